// Events: the inputs of CookCore::Step. The outputs are in effects.h. See docs/core.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/record/result.h"
#include "common/record/warning.h"
#include "common/record/worker_offer.h"
#include "director/core/catalog.h"
#include "director/core/cook_filter.h"
#include "director/core/ids.h"

namespace galley::director {

// Urgency: how urgently the most urgent cook wants a package. The order matters: higher overtakes.
enum class Urgency : int8_t {
  kSpare = -1,  // only asks ahead of need: such a job runs only in a slot that nothing else wants
  kLow = 0,     // a cook ahead of need
  kNormal,      // a nightly cook
  kAsked,       // a nightly cook's request itself names the package
  kHigh,        // a cook of a commit
  kBlocking,
};

// CookClass: the purpose of a cook, from which its packages have their urgency. The order matters:
// higher overtakes.
enum class CookClass : uint8_t {
  kAhead,    // speculative
  kNightly,  // of the whole project
  kCommit,   // of one change
  kNow,      // a person or a device waits
};
std::string_view CookClassName(CookClass of);  // "nightly"

// Why a package is in the cook.
enum class InstigatorCategory : uint8_t {
  kStartupPackage,
  kCommandLinePackage,
  kCommandLineDirectory,
  kCookMap,
  kIniMapSection,
  kAlwaysCookMap,
  kHardDependency,
  kSoftDependency,
  kBuildDependency,  // its cooked output (or the list of what it generates) is needed: for this
                     // reason it is in the cook, but not in the tree
  kGeneratedPackage,
  kCulture,
  kAssetManagerModifyCook,
  kIterativeCook,
  kCookOnTheFly,
  kSpeculative,
  kUnsolicited,
};

// InstigatorView: a reason why a package is in the cook.
struct InstigatorView {
  InstigatorCategory category = InstigatorCategory::kCommandLinePackage;
  PackageId referencer;  // invalid: a root cause
  bool operator==(const InstigatorView&) const = default;
};

// The part of a result that the core needs. Shared, immutable.
struct ResultView {
  ResultId id;
  // The references as written: the core resolves them (Catalog).
  std::vector<record::Reference> references;
  std::vector<record::Generated> generated;
  std::vector<record::Output> outputs;
  bool is_verdict = false;
  std::string error;  // a verdict's error
  std::string log;    // digest text of a verdict's log, or empty
  uint64_t key = 0;   // of its action; equal for equal inputs
  // The warnings of the result's cook, as they were kept (record::Warning); null: none.
  std::shared_ptr<const std::vector<std::string>> warnings;
  // The names of the packages whose outputs the result's cook read, sorted; null: none.
  std::shared_ptr<const std::vector<std::string>> inputs;
};
using ResultViewPtr = std::shared_ptr<const ResultView>;

enum class Stage : uint8_t { kRequest, kLoad, kSave, kCommit, kStage };
std::string_view StageName(Stage stage);  // "request"

// ------------------------------------------------------------------ events, by who sends them

// ---------------- people and their programs: who asks for cooks, changes them, asks questions

struct SelectedPackage {
  std::string name;
  InstigatorCategory category = InstigatorCategory::kCommandLinePackage;
};

// StandingPackages: the packages of the last complete cook of the same ask (docs/standings.md).
// Threads: any. Immutable.
class StandingPackages {
 public:
  virtual ~StandingPackages() = default;
  // True: the package is in the roots of that cook as it must be, and need not be looked at.
  virtual bool Has(std::string_view package) const = 0;
  // True: the package was in that cook, whatever became of it.
  virtual bool WasInCook(std::string_view package) const = 0;
};

// A cook is asked for. CookBegan follows when its turn comes. When all its packages are done,
// BuildRoot and PublishRoot follow for each platform, then StageRoots if is_staged, and CookEnded.
struct CookRequested {
  uint64_t request = 0;  // the cook's number, unique in this director
  PlatformMask platforms = 0;
  std::vector<SelectedPackage> selected;
  bool by_the_book = false;
  bool force = false;
  bool fail_fast = false;
  bool follow_soft = true;
  bool is_staged = false;  // the cook stages its roots before it ends
  CookClass of_class = CookClass::kNightly;
  // A package that an earlier director blamed before it died. Its own faults count on.
  struct Blamed {
    std::string package;
    uint32_t own_faults = 0;
    std::string what, error, log;  // of the last fault, as in PackageBlamed
  };
  std::vector<Blamed> blamed = {};
  // Not null: the cook looks only at the selected packages, and at packages to which they lead. A
  // reference to a standing package is not followed. The roots are built from the roots of the last
  // cook (BuildRoot::is_difference).
  std::shared_ptr<const StandingPackages> standing = nullptr;
  // Null: the cook leaves nothing out, and has the cultures of the project.
  std::shared_ptr<const CookFilter> filter = nullptr;
};

// Ctrl-C: nothing new begins, and committed results stay; CookEnded follows. Once the roots are
// being published, the request is too late, and the cook goes on to its end.
struct CancelRequested {
  uint64_t request = 0;  // of the cook
};

// The workers get no jobs from now on. Each finishes the jobs that have begun there, and ends; this
// is no loss. Other workers are started when there is work. Workers that are not attached are
// ignored.
struct DrainAsked {
  std::vector<WorkerId> workers;
};

// More packages are wanted, as if the cook's request had named them, by name or by file.
struct PackagesDiscovered {
  std::vector<SelectedPackage> packages;
  uint64_t request = 0;  // of the cook
};

// Somebody waits for the package on one platform, beside all cooks (cooks/asks.h). AskEnded
// answers.
struct PackageAsked {
  uint64_t ask = 0;  // the ask's number, unique in this director
  std::string package;
  PlatformIndex platform = 0;
  // Nobody waits: the package may be wanted soon, and is cooked while workers are idle.
  bool is_ahead = false;
};

// Nobody waits any more. No AskEnded follows. Ignored when the ask has ended.
struct AskWithdrawn {
  uint64_t ask = 0;
};

// The outcomes and faults of the packages are forgotten. These packages, and the packages that read
// their outputs, are looked up again, and cooked if necessary. A settled cook with such a package
// looks for lost bytes, unless its roots are being published (LookForLost).
struct PackagesCleared {
  std::vector<std::string> packages;
};

// A question; Reply answers in the same step, with a page of at most `limit` and at most
// CookOptions::query_limit_max entries. The core keeps nothing between two pages. All entries that
// existed at the first page are told; entries that are added before the cursor meanwhile are not.
struct QueryAsked {
  enum class About : uint8_t {
    kPackage,      // one package: its state, its attempts, and its reasons
    kInstigators,  // the reasons of all packages, package by package
  };
  // Cursor: the place where the next page begins. The cursor is void when the graph begins anew.
  struct Cursor {
    uint64_t cook = 0;     // Graph::rounds; 0: begin at the first entry
    uint32_t package = 0;  // kInstigators
    uint32_t reason = 0;
    bool operator==(const Cursor&) const = default;
  };
  uint64_t query = 0;  // the Reply has the same number
  About about = About::kPackage;
  std::string package;  // kPackage: its name
  Cursor cursor;
  uint32_t limit = 1024;
};

// ---------------- the project: its files and platforms changed

// A settled cook, whose roots are being built, published or staged, is not reached by the change;
// all other cooks take it at once.
struct FilesChanged {
  std::shared_ptr<const Catalog> catalog;
  std::vector<std::string> packages;  // packages whose results may no longer hold
  std::vector<std::string> paths;     // the paths of the Rescan that this answers
  // Sources that have another name now. The package of the new name joins the cooks for the root
  // causes of the old one. No key contains a name, so its look-up finds the old result.
  struct Renamed {
    std::string from;
    std::string to;
  };
  std::vector<Renamed> renamed = {};
  // New files that cooks select. A settled cook takes them if it is opened again.
  std::vector<PackagesDiscovered> discovered = {};
};

// Platforms were added, removed or renumbered. The core forgets a removed platform; a result for it
// that still arrives only feeds the cache. In a cook that is not yet publishing, every package is
// asked for an added platform.
struct PlatformsChanged {
  struct Added {
    uint64_t request = 0;        // a cook that runs, or waits for its turn
    PlatformMask platforms = 0;  // new numbers, to which `mapping` does not lead
  };
  std::shared_ptr<const Catalog> catalog;             // with the recipes of the new set
  std::vector<std::optional<PlatformIndex>> mapping;  // old number -> new; nullopt: removed
  uint32_t platform_count = 0;                        // of the new set, at most 32
  std::vector<Added> added = {};                      // platforms that cooks are to cook as well
  // Files that changed at the same time.
  std::optional<FilesChanged> files = std::nullopt;
};

// ---------------- the look-up threads

struct LookedUp {
  struct Hit {
    ResultViewPtr result;
    bool is_up_to_date = false;          // the last published root has the result's key
    std::vector<std::string> read = {};  // packages whose sources the result's cook read
  };
  struct Miss {
    // The times of the package's last cook for this platform; zero: unknown.
    absl::Duration last_load, last_save;
    uint64_t last_memory_bytes = 0;  // the peak of that cook
    // Files that the package's last cook read beside its source: ids of their paths, sorted, at
    // most kLastReadMax.
    std::vector<uint64_t> last_read = {};
    WorkId work = 0;  // 0 also when cooks of such work ask for their package's name
  };
  static constexpr size_t kLastReadMax = 16;
  // The shell needs the results of these packages: an observation set names their outputs.
  struct NeedsCooked {
    std::vector<std::string> packages;  // absolute virtual paths
  };
  struct Error {
    std::string error;  // the source cannot be read
  };
  // The source is larger than its cooker accepts, and was not read.
  struct TooLarge {
    std::string error;
  };
  // No result was found, but the package outgrew a limit on this machine in an earlier cook, and
  // the limit is the same now (FailureCause::kLimit).
  struct Kept {
    Stage stage = Stage::kLoad;
    std::string error;
    std::string log;  // digest text, or empty
  };
  struct Item {
    PackageId package;
    PlatformIndex platform = 0;
    uint64_t generation = 0;  // as in LookUp: an answer to an older question is dropped
    std::variant<Hit, Miss, NeedsCooked, Error, TooLarge, Kept> outcome;
  };
  std::vector<Item> items;
};

// ---------------- the launcher

// Workers of a director that died, and the attempts that it gave them, from the journal. The
// workers are expected to attach again, and this director takes the attempts over. WorkersSurvived
// comes before the first CookRequested.
struct WorkersSurvived {
  struct Given {
    AttemptId attempt = 0;
    WorkerId worker;
    std::string package;
    PlatformMask platforms = 0;
    std::optional<Digest> generated_source;
  };
  std::vector<WorkerId> workers;
  std::vector<Given> given;  // by attempt
  uint32_t first_free = 0;   // the first id for workers that the core asks for
};

struct LauncherReported {
  enum class State : uint8_t {
    kFailed,    // the worker could not be started
    kQueued,    // the farm has queued the worker, for an unknown time
    kStarting,  // a machine runs the worker: it is about to attach
  };
  WorkerId worker;    // the worker that Spawn asked for
  std::string error;  // of kFailed
  State state = State::kFailed;
  bool is_unfit = false;  // of kFailed: any other worker would fail in the same way
};

struct WorkerLost {
  WorkerId worker;
  std::string reason;
  bool is_infrastructure = true;  // false: the worker's package is to blame
  bool is_in_order = false;       // the worker said goodbye
  bool is_unfit = false;          // as in LauncherReported; of a worker that never attached
};

// ---------------- the workers' streams

struct WorkerAttached {
  WorkerId worker;
  uint32_t slots = 1;
  std::vector<AttemptId> in_hand;
  uint64_t memory_bytes = 0;  // for all jobs of the worker together; 0: unknown
  uint64_t session = 0;       // the worker's process; each process numbers its own reports
  // Reports up to this one are acknowledged, also by an earlier director, and do not come again.
  ReportId persisted = 0;
  std::vector<AttemptId> begun = {};      // of `in_hand`
  std::vector<AttemptId> pending = {};    // as in WorkerPending
  bool is_held = false;                   // as in WorkerPending, with `begun`
  std::vector<AttemptId> uploading = {};  // as in WorkerUploads; all are in `in_hand`
  // Sorted: cookers that the worker lacks, or has in another build. It gets no jobs of these
  // cookers.
  std::vector<std::string> lacks = {};
  std::string machine = {};        // the machine's name, as far as known (proofs.h)
  record::WorkerOffer offer = {};  // the resources and labels of the worker's machine
};

// Some message came from the worker.
struct WorkerAlive {
  WorkerId worker;
  uint64_t memory_bytes = 0;  // for all jobs of the worker together; 0: as before
};

// The complete list of the worker's attempts whose external programs merely wait. Such an attempt
// leaves its slot to another job.
struct WorkerPending {
  WorkerId worker;
  std::vector<AttemptId> attempts;
  // True: the worker begins no job though a slot is free, mostly for want of memory. Only the
  // attempts in `begun` have begun.
  bool is_held = false;
  std::vector<AttemptId> begun = {};
};

// Attempts that have left their slots while their outputs are still being uploaded. Their reports
// come after the outputs.
struct WorkerUploads {
  WorkerId worker;
  std::vector<AttemptId> attempts;
};

struct WorkerReport {
  struct Loaded {
    PlatformMask platforms = 0;
    ResultViewPtr so_far;  // references and generated; outputs empty
    absl::Duration load_time;
  };
  struct Saved {
    PlatformIndex platform = 0;
    ResultViewPtr result;  // a verdict too
    absl::Duration save_time;
    uint64_t memory_peak_bytes = 0;  // of the job so far; 0: unknown
    bool shared = false;             // the run for another platform served this one, too
    // The observations hold in the present snapshot: the shell recomputed the key.
    bool is_current = true;
    // Sorted: packages whose sources the cook read, except packages whose outputs it was given.
    std::vector<std::string> read = {};
  };
  // kRefused: the job cannot be done, for example because a tool cannot be started; final, but no
  // verdict.
  // kOtherTool and kNeedsFiles come from machines without the project. kOtherTool: a tool there
  // differs from the director's, so no job of the same programs can be done there. kNeedsFiles: the
  // program failed, and is tried again where the project's files are, if anywhere.
  enum class Fault {
    kCrashed,
    kMemory,
    kTimeout,
    kRefused,
    kInfrastructure,
    kOtherTool,
    kNeedsFiles,
    kNoRoom,    // the job did not begin: the machine has no room
    kProtocol,  // the worker's message was impossible or untrue
  };
  struct Failed {
    Fault fault = Fault::kInfrastructure;
    std::string error;
    std::string log;             // digest text, or empty
    PlatformMask platforms = 0;  // 0: all remaining platforms
    bool executor_lost = false;  // the executor's process ended
    // kInfrastructure: the executor or its program died by a SIGKILL that Galley did not send
    // (killings.h).
    bool is_killed = false;
    bool is_loaded = false;  // the load had ended, reported or not
    // kMemory, kTimeout: the platform whose load or save outgrew the limit, numbered as in
    // `platforms`. Set only if the shell knows all that the attempt had looked at for the platform.
    std::optional<PlatformIndex> outgrown;
  };
  struct Needs {
    std::string package;
    PlatformIndex platform = 0;
  };
  struct Stale {
    std::string path;
  };
  struct Ended {};
  // The bytes that the attempt moved since the report before.
  struct Bytes {
    uint64_t read = 0;   // cold: from disk or store
    uint64_t warm = 0;   // from the executor's own memory
    uint64_t saved = 0;  // outputs
  };
  ReportId report = 0;
  AttemptId attempt = 0;
  std::variant<Loaded, Saved, Failed, Needs, Stale, Ended> what;
  Bytes bytes = {};
};

struct WorkerReported {
  WorkerId worker;
  std::vector<WorkerReport> reports;
};

// A quarantined worker gets jobs again from its next WorkerAttached on.
struct WorkerReadmitted {
  WorkerId worker;
};

// The worker says that it can do no job at all, and ends. Its jobs in hand are not blamed.
struct WorkerUnfit {
  WorkerId worker;
  std::string reason;
};

// A worker could not read an input that the store said it has.
struct LossSeen {};

// ---------------- the commit thread: results, roots, the store

struct Persisted {
  struct Item {
    PackageId package;
    PlatformIndex platform = 0;  // as in Persist
    ResultId result;
    ResultViewPtr instead;  // not null: the store has this other result for the key, which counts
    // Not empty: the result's bytes are not where its worker said.
    std::string refused;
    bool is_loss = false;     // of a refused result: the store had the bytes, but lost them
    bool was_stored = false;  // answers Persist::Item::may_be_stored
  };
  std::vector<Item> items;
  std::string error;  // not empty: the machine failed the commit, for example by a full disk: none
                      // of `items` is durable, and the running cooks end with exit 3
};

struct RootBuilt {
  PlatformIndex platform = 0;
  Digest root;
  struct Conflict {
    PackageId first;
    PackageId second;
    std::string path;
    std::string reason;
  };
  std::vector<Conflict> conflicts;  // both packages fail; the root is built again without them
  uint32_t platform_set = 0;        // of the BuildRoot; a root of an older set is ignored
  // A blob that the store lost during the cook. The package, and the packages that read its
  // outputs, are looked up again, and cooked if necessary. Then all roots are built again.
  struct Lost {
    PackageId package;
    std::string path;  // in the tree, or of the package
    Digest digest;
    ResultId result = {};      // the result that names it
    bool is_disputed = false;  // no blob is gone: the key has two different results
  };
  std::vector<Lost> lost = {};
  uint32_t round = 0;    // of the BuildRoot
  std::string error;     // not empty: the machine could not build the tree
  uint64_t request = 0;  // of the BuildRoot
  // True: the root cannot be built from the last root. The cook must look at `whole`, all packages
  // that it selects.
  bool is_too_narrow = false;
  std::vector<SelectedPackage> whole = {};
};

struct RootPublished {
  PlatformIndex platform = 0;
  std::string error;
  uint32_t platform_set = 0;
  uint32_t round = 0;
  uint64_t request = 0;  // of the PublishRoot, as are platform_set and round
};

// Answers LookForLost: the results whose bytes are gone.
struct LostFound {
  uint64_t look = 0;  // of the LookForLost
  std::vector<RootBuilt::Lost> lost;
  std::string error;  // not empty: the store could not be checked
};

// ---------------- the director's loop itself

// Answers StageRoots. The roots lie in the sandboxes, or `loss` says why not, or the shell tells
// another reason.
struct RootsStaged {
  std::string loss;  // not empty: the bytes that the store lacks, and their place
  uint32_t round = 0;
  uint64_t request = 0;  // of the StageRoots, as is round
};

// The director's machine cannot go on, for example because its disk is full or the journal cannot
// be written. All running cooks end with exit 3.
struct DirectorUnfit {
  std::string reason;
};

// This cook cannot go on, and ends with exit 3. Ignored when the cook does not run.
struct CookUnfit {
  uint64_t request = 0;
  std::string reason;
};

// The director's memory is short. The core forgets all packages if no cook runs or waits, and no
// attempt or commit names a package. The shell asks again later.
struct MemoryShort {};

struct Tick {};

using Event =
    std::variant<CookRequested, CancelRequested, DrainAsked, PackagesDiscovered, PackageAsked,
                 AskWithdrawn, PackagesCleared, QueryAsked, FilesChanged, PlatformsChanged,
                 LookedUp, WorkersSurvived, LauncherReported, WorkerLost, WorkerAttached,
                 WorkerAlive, WorkerPending, WorkerUploads, WorkerReported, WorkerUnfit,
                 WorkerReadmitted, LossSeen, Persisted, RootBuilt, RootPublished, LostFound,
                 RootsStaged, DirectorUnfit, CookUnfit, MemoryShort, Tick>;

}  // namespace galley::director
