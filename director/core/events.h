// Events: all that CookCore is told (CookCore::Step). effects.h has what it answers. See
// docs/core.md.
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
#include "director/core/ids.h"

namespace galley::director {

// Urgency: the urgency of the most urgent cook that wants the package. Order matters: higher
// overtakes.
enum class Urgency : uint8_t {
  kLow,     // a cook ahead of need
  kNormal,  // a nightly cook
  kAsked,   // a nightly cook's request itself names the package
  kHigh,    // a cook of a commit
  kBlocking,
};

// CookClass: the purpose of a cook, which gives the urgency of all its packages. Order matters:
// higher overtakes.
enum class CookClass : uint8_t {
  kAhead,    // speculative
  kNightly,  // of the whole
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
  uint64_t key = 0;   // of its action: actions with the very same inputs have the same key
  // The warnings of the result's cook, as they were kept (record::Warning); null: none.
  std::shared_ptr<const std::vector<std::string>> warnings;
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

// StandingPackages: the packages that the last cook of the same ask left.
// Threads: any. Immutable.
class StandingPackages {
 public:
  virtual ~StandingPackages() = default;
  // True: every root holds the package, and it need not be looked at.
  virtual bool Has(std::string_view package) const = 0;
  // True: the last cook had the package, in whatever way.
  virtual bool WasInCook(std::string_view package) const = 0;
};

// A cook is asked for. CookBegan follows when the cook's turn comes; when all its packages are
// done, BuildRoot and PublishRoot for each platform, and CookEnded.
struct CookRequested {
  uint64_t request = 0;  // the cook's number; no other cook of this director has it
  PlatformMask platforms = 0;
  std::vector<SelectedPackage> selected;
  bool by_the_book = false;
  bool force = false;
  bool fail_fast = false;
  bool follow_soft = true;
  bool is_staged = false;  // the cook is over when its roots lie in the sandboxes (StageRoots)
  CookClass of_class = CookClass::kNightly;
  // A package that was blamed in the earlier cook whose director died: its own faults count on.
  struct Blamed {
    std::string package;
    uint32_t own_faults = 0;
    std::string what, error, log;  // of the last fault, as in PackageBlamed
  };
  std::vector<Blamed> blamed = {};
  // Not null: the cook looks only at the selected packages, and at the packages to which they lead.
  // A reference to a standing package is not followed any further. The roots are made from the
  // roots of the last cook (BuildRoot).
  std::shared_ptr<const StandingPackages> standing = nullptr;
};

// Ctrl-C: nothing new begins, persisted results stay; CookEnded{interrupted} follows. While roots
// are being published the request is too late: then the cook goes on to its end.
struct CancelRequested {
  uint64_t request = 0;  // of the cook
};

// The named workers get no job from now on: each finishes the jobs that have begun there, and ends.
// A worker that ends so is not lost, and other workers are started when there is work. Workers that
// are not attached are passed over.
struct DrainAsked {
  std::vector<WorkerId> workers;
};

// More packages are wanted in the cook, as if its request had named them: by name or by file
// (Catalog::NameOfFile).
struct PackagesDiscovered {
  std::vector<SelectedPackage> packages;
  uint64_t request = 0;  // of the cook
};

// The outcomes of the packages are forgotten, faults too: the packages are looked up again, and
// cooked where need be, as are packages that read their outputs. By name or by file. While the
// roots of a cook are built or published, its packages stay as they are; they are cleared when the
// cook is over, or open again.
struct PackagesCleared {
  std::vector<std::string> packages;
};

// A question; Reply answers at once, with a page of at most `limit` entries (and at most
// CookOptions::query_limit_max). The core holds nothing between two pages: entries that were added
// before the cursor meanwhile are not told; all entries that were there when the first page was
// asked for are told.
struct QueryAsked {
  enum class About : uint8_t {
    kPackage,      // one: its state, attempts, and the reasons why it is in the cook
    kInstigators,  // the reasons of all packages, package by package, each in the order found
  };
  // Cursor: the place where the next page begins. A new cook voids the cursor.
  struct Cursor {
    uint64_t cook = 0;     // 0: at the beginning
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

struct FilesChanged {
  std::shared_ptr<const Catalog> catalog;
  std::vector<std::string> packages;  // packages whose results may no longer hold
  std::vector<std::string> paths;     // the paths of the Rescan that this answers, if it does
  // Sources that have another name now. The new name is in the cook for the reasons of the old
  // name; since no key holds a name, the look-up of the new name finds the old result.
  struct Renamed {
    std::string from;
    std::string to;
  };
  std::vector<Renamed> renamed = {};
  // The new files that cooks ask for, beside their earlier requests. A cook that is about to
  // publish stays as it is.
  std::vector<PackagesDiscovered> discovered = {};
};

// Platforms are added, removed or renumbered while the director lives; the files are the same. The
// core forgets a removed platform, and a result for it that still arrives only feeds the cache. In
// a cook that is not yet publishing, an added platform is asked for of every package.
struct PlatformsChanged {
  struct Added {
    uint64_t request = 0;        // a cook that runs, or waits for its turn
    PlatformMask platforms = 0;  // new numbers; no old number leads there
  };
  std::shared_ptr<const Catalog> catalog;             // with the recipes of the new set
  std::vector<std::optional<PlatformIndex>> mapping;  // old number -> new; nullopt: removed
  uint32_t platform_count = 0;                        // of the new set, at most 32
  std::vector<Added> added = {};                      // platforms that cooks are to cook as well
  // Files that changed with them, in the same world.
  std::optional<FilesChanged> files = std::nullopt;
};

// ---------------- the look-up threads

struct LookedUp {
  struct Hit {
    ResultViewPtr result;
    bool is_up_to_date = false;          // the root last published for this platform has its key
    std::vector<std::string> read = {};  // packages whose sources its cook read
  };
  struct Miss {
    // The times of the package's last cook for this platform; zero: not known.
    absl::Duration last_load, last_save;
    uint64_t last_memory_bytes = 0;  // the peak of that cook
    // Files that the package's last cook read beside its source: ids of their paths, sorted, at
    // most kLastReadMax.
    std::vector<uint64_t> last_read = {};
    WorkId work = 0;  // 0 also when a cook of the work is known to ask for its package's name
  };
  static constexpr size_t kLastReadMax = 16;
  // An observation set holds cooked inputs whose results the shell was not given.
  struct NeedsCooked {
    std::vector<std::string> packages;  // absolute virtual paths
  };
  struct Error {
    std::string error;  // the source cannot be read
  };
  // The source has more bytes than its cooker takes: no byte was read.
  struct TooLarge {
    std::string error;
  };
  // Nothing was found, but an earlier cook saw the package outgrow a limit on this machine, and the
  // limit is the same now.
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

// Workers of a director that died, which are expected to attach again, and the attempts that it
// gave them, as the journal knows: these attempts are now this director's. WorkersSurvived comes
// before the first CookRequested.
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
  uint32_t first_free = 0;   // of the ids for workers that are asked for from now on
};

struct LauncherReported {
  enum class State : uint8_t {
    kFailed,    // the worker could not be started
    kQueued,    // the farm has the worker in its queue, for any time
    kStarting,  // a machine runs the worker: it is about to attach
  };
  WorkerId worker;    // the worker that Spawn asked for
  std::string error;  // of kFailed
  State state = State::kFailed;
  bool is_unfit = false;  // of kFailed: another worker that is started alike would fare the same
};

struct WorkerLost {
  WorkerId worker;
  std::string reason;
  bool is_infrastructure = true;  // a death that no package explains
  bool is_in_order = false;       // the worker said goodbye
  bool is_unfit = false;          // as in LauncherReported, of a worker that never attached
};

// ---------------- the workers' streams

struct WorkerAttached {
  WorkerId worker;
  uint32_t slots = 1;
  std::vector<AttemptId> in_hand;
  uint64_t memory_bytes = 0;  // memory that the worker's jobs may take together; 0: unknown
  uint64_t session = 0;  // names the worker's process: another process numbers its reports anew
  // Reports up to this one were persisted, by an earlier director too; none of them comes again.
  ReportId persisted = 0;
  std::vector<AttemptId> begun = {};    // of `in_hand`
  std::vector<AttemptId> pending = {};  // as in WorkerPending
  bool is_held = false;  // as in WorkerPending; `begun` are the attempts that have begun
  std::vector<AttemptId> uploading = {};  // as in WorkerUploads; all are in `in_hand`
  // Sorted: the cookers that the worker does not have as this director knows them. The worker gets
  // no job of these cookers.
  std::vector<std::string> lacks = {};
  std::string machine = {};        // where it runs, as far as the director can tell (proofs.h)
  record::WorkerOffer offer = {};  // the resources and labels of the worker's machine
};

// A message came from the worker, whatever it said.
struct WorkerAlive {
  WorkerId worker;
  uint64_t memory_bytes = 0;  // memory that its jobs may take together from now on; 0: as before
};

// The worker's attempts whose external programs merely wait, all of them: each leaves its slot to
// another job.
struct WorkerPending {
  WorkerId worker;
  std::vector<AttemptId> attempts;
  // True: jobs wait there though a slot is free, as a rule for want of memory: only `begun` have
  // begun.
  bool is_held = false;
  std::vector<AttemptId> begun = {};
};

// Attempts of the worker that have left their slots to the jobs behind them: their outputs are on
// their way, and their reports come behind the outputs.
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
    bool shared = false;             // served by the run of another platform in this attempt
    // The shell recomputed the key: the observations hold in the present snapshot.
    bool is_current = true;
    // Packages whose sources the cook read, sorted; without the packages whose outputs it was
    // given.
    std::vector<std::string> read = {};
  };
  // kRefused: the job cannot be done as it is (another cooker identity, a tool that cannot be
  // started); final, but no verdict.
  // kOtherTool, of machines without the project: a tool there is not the director's, so that no job
  // of the same programs can be done there. kNeedsFiles, of such machines: the program failed, and
  // is tried again where the project's files are, if anywhere.
  enum class Fault {
    kCrashed,
    kMemory,
    kTimeout,
    kRefused,
    kInfrastructure,
    kOtherTool,
    kNeedsFiles,
    kNoRoom,    // the job was not begun: the machine has no room for it
    kProtocol,  // the worker said what cannot be, or is not true
  };
  struct Failed {
    Fault fault = Fault::kInfrastructure;
    std::string error;
    std::string log;             // digest text, or empty
    PlatformMask platforms = 0;  // 0: all platforms that are left
    bool executor_lost = false;  // the executor's process ended, whatever the cause
    // kInfrastructure: the executor or its program died by a SIGKILL that Galley did not send
    // (killings.h).
    bool is_killed = false;
    bool is_loaded = false;  // the job's load was over, also where the load was not reported
    // kMemory, kTimeout: the platform (numbered as in `platforms`) whose load or save outgrew its
    // limit by its own need, when the shell knows everything that the attempt had looked at for it.
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
  // The bytes that the attempt moved since its last report.
  struct Bytes {
    uint64_t read = 0;   // cold: from disk or store
    uint64_t warm = 0;   // bytes that the attempt's executor still had
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

// A worker that was quarantined gets jobs again, when it attaches anew.
struct WorkerReadmitted {
  WorkerId worker;
};

// The worker says that it can do no job at all, and ends: its jobs in hand are not blamed for that.
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
    PlatformIndex platform = 0;  // as in Persist; the result says which commit is meant
    ResultId result;
    ResultViewPtr instead;  // not null: the store held this other outcome for the key, which stands
    // Not empty: the bytes that the result names are not where its worker said.
    std::string refused;
    bool is_loss = false;     // of a refused result: the store had the bytes, and lost them
    bool was_stored = false;  // of a result that may be stored: the store had it before
  };
  std::vector<Item> items;
  std::string error;  // not empty: the commit failed for the machine's sake (disk full, store
                      // gone): none of `items` is durable, and the cook ends with exit 3
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
  std::vector<Conflict> conflicts;  // both fail, and the root is built again without them
  uint32_t platform_set = 0;  // of the BuildRoot: a root of an older set is not wanted any more
  // A blob that the store dropped during the cook. The packages that lost a blob are looked up
  // again, and cooked where need be, as are packages that read their outputs; then all roots are
  // built again.
  struct Lost {
    PackageId package;
    std::string path;  // in the tree, or of the package
    Digest digest;
    ResultId result = {};      // the result that names it
    bool is_disputed = false;  // nothing is gone: two outcomes of the result's key are known
  };
  std::vector<Lost> lost = {};
  uint32_t round = 0;    // of the BuildRoot, as platform_set
  std::string error;     // not empty: the tree could not be built, for the machine's sake
  uint64_t request = 0;  // of the BuildRoot
  // True: the root cannot be made of a difference: the cook looks at all packages of the root,
  // `whole`.
  bool is_too_narrow = false;
  std::vector<SelectedPackage> whole = {};
};

struct RootPublished {
  PlatformIndex platform = 0;
  std::string error;
  uint32_t platform_set = 0;
  uint32_t round = 0;
  uint64_t request = 0;  // of the PublishRoot, as platform_set and round
};

// Answers LookForLost with the results among its packages whose bytes are gone.
struct LostFound {
  uint64_t look = 0;  // of the LookForLost
  std::vector<RootBuilt::Lost> lost;
  std::string error;  // not empty: the store could not look
};

// ---------------- the director's loop itself

// Answers StageRoots: all published roots lie in the sandboxes, or the reason why not is told
// elsewhere.
struct RootsStaged {
  std::string loss;  // not empty: the store lacks some of it (what and where)
  uint32_t round = 0;
  uint64_t request = 0;  // of the StageRoots, as round
};

// The director's machine cannot go on with the cook: its disk is full, another director has the
// project's lock, the journal cannot be written. The cook ends with exit 3.
struct DirectorUnfit {
  std::string reason;
};

// A cook cannot go on: the cook ends as it is. Nothing happens when the cook does not run.
struct CookUnfit {
  uint64_t request = 0;
  std::string reason;
};

// The director's memory is short: the core forgets its packages beyond a cook, when no cook runs,
// and nothing is on its way that names a package. The packages are asked for again later.
struct MemoryShort {};

struct Tick {};

using Event = std::variant<CookRequested, CancelRequested, DrainAsked, PackagesDiscovered,
                           PackagesCleared, QueryAsked, FilesChanged, PlatformsChanged, LookedUp,
                           WorkersSurvived, LauncherReported, WorkerLost, WorkerAttached,
                           WorkerAlive, WorkerPending, WorkerUploads, WorkerReported, WorkerUnfit,
                           WorkerReadmitted, LossSeen, Persisted, RootBuilt, RootPublished,
                           LostFound, RootsStaged, DirectorUnfit, CookUnfit, MemoryShort, Tick>;

}  // namespace galley::director
