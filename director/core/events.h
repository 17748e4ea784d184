// Events in, effects out: the whole face of CookCore. See docs/core.md.
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

// Order matters: higher overtakes. It is that of the most urgent cook that wants the package.
enum class Urgency : uint8_t {
  kLow,     // a cook ahead of need
  kNormal,  // a nightly cook
  kAsked,   // a nightly cook's request itself names the package
  kHigh,    // a cook of a commit
  kBlocking,
};

// What a cook is for: the urgency of all that it wants. Order matters: higher overtakes.
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

// One reason why a package is in the cook.
struct InstigatorView {
  InstigatorCategory category = InstigatorCategory::kCommandLinePackage;
  PackageId referencer;  // invalid: a root cause
  bool operator==(const InstigatorView&) const = default;
};

// The part of a result that the core needs. Shared, immutable.
struct ResultView {
  ResultId id;
  std::vector<record::Reference> references;  // as written: the core resolves them (Catalog)
  std::vector<record::Generated> generated;
  std::vector<record::Output> outputs;
  bool is_verdict = false;
  std::string error;  // a verdict's error
  std::string log;    // digest text of a verdict's log, or empty
  uint64_t key = 0;   // of its action: those of the very same inputs have the same
  // What its cook warned of, as it was kept (record::Warning); null: nothing.
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

// StandingPackages: what the last cook of the same left.
// Threads: any. Immutable.
class StandingPackages {
 public:
  virtual ~StandingPackages() = default;
  // All roots hold it, and it need not be looked at.
  virtual bool Has(std::string_view package) const = 0;
  // The last cook had it, in whatever way.
  virtual bool WasInCook(std::string_view package) const = 0;
};

// A cook is asked for. CookBegan follows when its turn comes; when all is done, BuildRoot and
// PublishRoot for each platform, and CookEnded.
struct CookRequested {
  uint64_t request = 0;  // its number; no other cook of this director has it
  PlatformMask platforms = 0;
  std::vector<SelectedPackage> selected;
  bool by_the_book = false;
  bool force = false;
  bool fail_fast = false;
  bool follow_soft = true;
  bool is_staged = false;  // it is over when its roots lie in the sandboxes (StageRoots)
  CookClass of_class = CookClass::kNightly;
  // A package that was blamed in the cook before, whose director died: its own faults count on.
  struct Blamed {
    std::string package;
    uint32_t own_faults = 0;
    std::string what, error, log;  // of the last fault, as in PackageBlamed
  };
  std::vector<Blamed> blamed = {};
  // Not null: only what is selected is looked at, and what that leads to; a reference to one of
  // these is not followed any further. The roots are made from those of the last cook (BuildRoot).
  std::shared_ptr<const StandingPackages> standing = nullptr;
};

// Ctrl-C: nothing new begins, what is persisted stays; CookEnded{interrupted} follows. Too late
// once roots are being published: then all is done.
struct CancelRequested {
  uint64_t request = 0;  // of the cook
};

// These workers get no job from now on: each finishes what has begun there, and ends. That is no
// loss, and others are started when there is work. Those that are not attached are passed over.
struct DrainAsked {
  std::vector<WorkerId> workers;
};

// These packages are wanted in the cook as well, as if its request had named them. By name or by
// file (Catalog::NameOfFile).
struct PackagesDiscovered {
  std::vector<SelectedPackage> packages;
  uint64_t request = 0;  // of the cook
};

// The outcomes of these packages are forgotten, faults too: the packages are looked up again, and
// cooked where need be, as are those that read their outputs. By name or by file.
struct PackagesCleared {
  std::vector<std::string> packages;
};

// A question; Reply answers at once, a page of at most `limit` entries (and of what
// CookOptions::query_limit_max allows). Nothing is held between two pages: what was added before
// the cursor meanwhile is not told, everything that was there when the first page was asked for is.
struct QueryAsked {
  enum class About : uint8_t {
    kPackage,      // one: its state, attempts, and the reasons why it is in the cook
    kInstigators,  // the reasons of all packages, package by package, each in the order found
  };
  // Where to go on. A new cook voids it.
  struct Cursor {
    uint64_t cook = 0;     // 0: at the beginning
    uint32_t package = 0;  // kInstigators
    uint32_t reason = 0;
    bool operator==(const Cursor&) const = default;
  };
  uint64_t query = 0;  // comes back in the Reply
  About about = About::kPackage;
  std::string package;  // kPackage: its name
  Cursor cursor;
  uint32_t limit = 1024;
};

// ---------------- the project: its files and platforms changed

struct FilesChanged {
  std::shared_ptr<const Catalog> catalog;
  std::vector<std::string> packages;  // those whose results may no longer hold
  std::vector<std::string> paths;     // the paths of the Rescan that this answers, if it does
  // Sources that have another name now. The new one is in the cook for what the old one was asked
  // for; since no key holds a name, its look-up finds the old one's result.
  struct Renamed {
    std::string from;
    std::string to;
  };
  std::vector<Renamed> renamed = {};
  // The new files that cooks ask for, beside what they asked for before. A cook that is about to
  // publish stays as it is.
  std::vector<PackagesDiscovered> discovered = {};
};

// Platforms are added, removed or renumbered while the director lives; the files are the same. What
// is known of a removed one is forgotten, and a result for it that still arrives only feeds the
// cache. In a cook that is not yet publishing, an added one is asked for of every package.
struct PlatformsChanged {
  struct Added {
    uint64_t request = 0;        // a cook that runs, or waits for its turn
    PlatformMask platforms = 0;  // new numbers; no old one leads there
  };
  std::shared_ptr<const Catalog> catalog;             // with the recipes of the new set
  std::vector<std::optional<PlatformIndex>> mapping;  // old number -> new; nullopt: removed
  uint32_t platform_count = 0;                        // of the new set, at most 32
  std::vector<Added> added = {};                      // what cooks are to cook as well
  std::optional<FilesChanged> files = std::nullopt;   // that changed with them, in the same world
};

// ---------------- the look-up threads

struct LookedUp {
  struct Hit {
    ResultViewPtr result;
    bool is_up_to_date = false;          // the root last published for this platform has its key
    std::vector<std::string> read = {};  // packages whose sources the cook of it read
  };
  struct Miss {
    // The times of the package's last cook for this platform; zero: not known.
    absl::Duration last_load, last_save;
    uint64_t last_memory_bytes = 0;  // the peak of that cook
    // Files that it read beside its source: ids of their paths, sorted, at most kLastReadMax.
    std::vector<uint64_t> last_read = {};
    WorkId work = 0;  // 0 also when a cook of it is known to ask for its package's name
  };
  static constexpr size_t kLastReadMax = 16;
  // An observation set holds cooked inputs whose results the shell was not given.
  struct NeedsCooked {
    std::vector<std::string> packages;  // absolute virtual paths
  };
  struct Error {
    std::string error;  // the source cannot be read
  };
  // The source has more bytes than its cooker takes: none of them was read.
  struct TooLarge {
    std::string error;
  };
  // Nothing was found, but an earlier cook saw the package outgrow a limit on this machine, and
  // that limit is the same today.
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
// gave them, as the journal knows: these attempts are now this director's. Comes before the first
// CookRequested.
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
  uint32_t first_free = 0;   // of ids for workers that are asked for from now on
};

struct LauncherReported {
  enum class State : uint8_t {
    kFailed,    // it could not be started
    kQueued,    // the farm has it in its queue: that may take any time
    kStarting,  // its machine runs it: it is about to attach
  };
  WorkerId worker;    // that was asked for by Spawn
  std::string error;  // of kFailed
  State state = State::kFailed;
  bool is_unfit = false;  // of kFailed: another one that is started like it would fare the same
};

struct WorkerLost {
  WorkerId worker;
  std::string reason;
  bool is_infrastructure = true;  // a death that no package explains
  bool is_in_order = false;       // it said goodbye
  bool is_unfit = false;          // as in LauncherReported, of one that never attached
};

// ---------------- the workers' streams

struct WorkerAttached {
  WorkerId worker;
  uint32_t slots = 1;
  std::vector<AttemptId> in_hand;
  uint64_t memory_bytes = 0;  // what its jobs may take together; 0: unknown
  uint64_t session = 0;       // names its process: another process numbers its reports anew
  // Reports up to this one were persisted, by a director before this one too; none comes again.
  ReportId persisted = 0;
  std::vector<AttemptId> begun = {};      // of `in_hand`
  std::vector<AttemptId> pending = {};    // as in WorkerPending
  bool is_held = false;                   // likewise; `begun` is what has begun
  std::vector<AttemptId> uploading = {};  // as in WorkerUploads; all of `in_hand`
  // Sorted: the cookers that it does not have as this director knows them. It gets no job of these.
  std::vector<std::string> lacks = {};
  std::string machine = {};        // where it runs, as far as the director can tell (proofs.h)
  record::WorkerOffer offer = {};  // what its machine has
};

// A message came from the worker, whatever it said.
struct WorkerAlive {
  WorkerId worker;
  uint64_t memory_bytes = 0;  // what its jobs may take together from now on; 0: as before
};

// All of the worker's attempts whose external programs merely wait: each leaves its slot to another
// job.
struct WorkerPending {
  WorkerId worker;
  std::vector<AttemptId> attempts;
  // Jobs wait there though a slot is free, as a rule for want of memory: only `begun` have begun.
  bool is_held = false;
  std::vector<AttemptId> begun = {};
};

// Attempts of the worker that have left their slots to the jobs behind them: what they made is on
// its way, and their reports come behind it.
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
    // Packages whose sources the cook read, sorted; not those whose outputs it was given.
    std::vector<std::string> read = {};
  };
  // kRefused: the job cannot be done as it is (another cooker identity, a tool that cannot be
  // started): final, but no verdict.
  // Of machines without the project: kOtherTool: a tool there is not the director's, so that no job
  // of the same programs can be done there; kNeedsFiles: the program failed, and is tried again
  // where the project's files are, if anywhere.
  enum class Fault {
    kCrashed,
    kMemory,
    kTimeout,
    kRefused,
    kInfrastructure,
    kOtherTool,
    kNeedsFiles,
    kNoRoom,    // the job was not begun: the machine has no room for it
    kProtocol,  // what the worker says cannot be, or is not true
  };
  struct Failed {
    Fault fault = Fault::kInfrastructure;
    std::string error;
    std::string log;             // digest text, or empty
    PlatformMask platforms = 0;  // 0: all that are left
    bool executor_lost = false;  // its process ended, whatever the cause
    // kInfrastructure: its executor or program died by a SIGKILL that Galley did not send
    // (killings.h).
    bool is_killed = false;
    bool is_loaded = false;  // its load was over, also where that was not reported
    // kMemory, kTimeout: the platform (numbered as in `platforms`) whose load or save outgrew its
    // limit by its own need, when the shell knows all that the attempt had looked at for it.
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
  // The bytes that the attempt moved since its report before.
  struct Bytes {
    uint64_t read = 0;   // cold: from disk or store
    uint64_t warm = 0;   // that its executor still had
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

// The worker says that it can do no job at all, and ends: the jobs that it had in hand are not
// blamed for that.
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
    PlatformIndex platform = 0;  // as Persist had it; the result says which commit is meant
    ResultId result;
    ResultViewPtr instead;    // not null: the store held this other outcome for the key: it stands
    std::string refused;      // not empty: the bytes that it names are not where its worker said
    bool is_loss = false;     // of what is refused: the store had them, and lost them
    bool was_stored = false;  // of one that may be: the store had this result before
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
  uint32_t platform_set = 0;        // of the BuildRoot: an older one's root is not wanted any more
  // A blob that the store dropped during the cook. The packages that lost one are looked up again,
  // and cooked where need be, as are those that read their outputs; then all roots are built again.
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
  // The root cannot be made of a difference: the cook looks at all that it holds, which is `whole`.
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

// Answers LookForLost: the results that it named and whose bytes are gone.
struct LostFound {
  uint64_t look = 0;  // of the LookForLost
  std::vector<RootBuilt::Lost> lost;
  std::string error;  // not empty: nobody could look
};

// ---------------- the director's loop itself

// Answers StageRoots: all that was published lies in the sandboxes, or why not is told elsewhere.
struct RootsStaged {
  std::string loss;  // not empty: the store lacks some of it (what and where)
  uint32_t round = 0;
  uint64_t request = 0;  // of the StageRoots, as round
};

// The director's machine cannot go on with the cook: its disk is full, the project's lock is
// another's, the journal cannot be written. The cook ends with exit 3.
struct DirectorUnfit {
  std::string reason;
};

// One cook cannot go on: it ends as it is. Nothing happens when it does not run.
struct CookUnfit {
  uint64_t request = 0;
  std::string reason;
};

// The memory of the director is short: all that is known of packages beyond a cook is forgotten,
// when no cook runs, and nothing is on its way that names one. It is asked for again.
struct MemoryShort {};

struct Tick {};

using Event = std::variant<CookRequested, CancelRequested, DrainAsked, PackagesDiscovered,
                           PackagesCleared, QueryAsked, FilesChanged, PlatformsChanged, LookedUp,
                           WorkersSurvived, LauncherReported, WorkerLost, WorkerAttached,
                           WorkerAlive, WorkerPending, WorkerUploads, WorkerReported, WorkerUnfit,
                           WorkerReadmitted, LossSeen, Persisted, RootBuilt, RootPublished,
                           LostFound, RootsStaged, DirectorUnfit, CookUnfit, MemoryShort, Tick>;

// ------------------------------------------------------------------ effects

// The result of another package that a look-up or a job may need.
struct CookedResult {
  PackageId package;
  PlatformIndex platform = 0;
  ResultId result;  // invalid: that package failed or has none
};

struct LookUp {
  struct Item {
    PackageId package;
    PlatformMask platforms = 0;
    uint64_t generation = 0;
    // Results of the packages that an earlier answer named in NeedsCooked.
    std::vector<CookedResult> cooked;
  };
  std::vector<Item> items;
};

// Differences for one worker.
struct Desire {
  struct Start {
    AttemptId attempt = 0;
    PackageId package;
    PlatformMask platforms = 0;
    std::vector<CookedResult> cooked;
    absl::Duration expected;
    uint64_t memory_bytes = 0;           // expected, at its peak; 0: unknown
    Urgency urgency = Urgency::kNormal;  // it goes before what waits there and is less urgent
    bool is_awaited = false;             // a package or a person waits for its result
    bool runs_alone = false;             // what other jobs left in its executor must not count
  };
  WorkerId worker;
  std::vector<Start> start;
  std::vector<AttemptId> cancel;   // what runs is ended
  std::vector<AttemptId> retract;  // what runs goes on
  struct Part {
    AttemptId attempt = 0;
    PlatformMask platforms = 0;
  };
  std::vector<Part> retract_part;  // platforms that others cook now; one that is begun goes on
  std::vector<ReportId> persisted;
  bool resend_all = false;  // the reports that the worker keeps, once more
  bool drain = false;
  bool start_another = false;  // with drain: its starter is to start another, since we cannot
};

struct Spawn {
  WorkerId worker;  // its id is given here; the launcher starts a process that attaches under it
  absl::Duration delay;  // back-off
};

// The worker has not been heard of for too long: its process must not live on. The core counts it
// as lost already; WorkerLost may follow.
struct Stop {
  WorkerId worker;
};

// Where the time of a package went before its result was there, for `galley why`.
struct Waited {
  absl::Duration request;  // from being asked for until it was to be cooked
  absl::Duration queue;    // until it was handed over, lost attempts included
  absl::Duration in_hand;  // until its worker reported the result: the worker's queue, load, saves
  uint32_t attempts = 0;   // hand-overs in this cook
};

struct Persist {
  struct Item {
    PackageId package;
    PlatformIndex platform = 0;
    ResultId result;
    bool was_cooked = false;  // else: found by look-up; only the journal learns of it
    Waited waited;            // set when it was cooked
    // The cook for which it came: the most urgent one that wants the package, and of those the one
    // asked for first. 0: none, the result only feeds the cache.
    uint64_t cook = 0;
    bool is_forced = false;  // that one cooks whatever is known
    // The result was cooked for an earlier director, which may have stored it and not have come to
    // tell its worker: Persisted says whether the store had it.
    bool may_be_stored = false;
  };
  std::vector<Item> items;  // may be empty when it is urgent
  bool is_urgent = false;   // somebody waits for one of these, or for an earlier one that is not
                            // committed yet
};

// Look again at these files; FilesChanged answers.
struct Rescan {
  std::vector<std::string> paths;
};

struct BuildRoot {
  PlatformIndex platform = 0;
  std::vector<std::pair<PackageId, ResultId>> packages;  // sorted by package name
  uint32_t platform_set = 0;   // how many PlatformsChanged came before: `platform` is of that set
  uint32_t round = 0;          // how often the store had lost some of what this cook's roots name
  uint64_t request = 0;        // of the cook
  bool is_difference = false;  // `packages` were looked at: the others are as in the last root
};

struct PublishRoot {
  PlatformIndex platform = 0;
  Digest root;
  bool by_the_book = false;
  uint32_t platform_set = 0;  // as in BuildRoot
  uint32_t round = 0;         // likewise
  uint64_t request = 0;       // of the cook
};

// All roots are published. The cook is over when they lie in their sandboxes.
struct StageRoots {
  uint32_t round = 0;    // as in BuildRoot
  uint64_t request = 0;  // of the cook
};

// Look at the disk, in one pass: which of these results name bytes that are gone. The store drops
// all that it knows of these bytes, so that look-ups find them no more.
struct LookForLost {
  uint64_t look = 0;
  std::vector<std::pair<PackageId, ResultId>> packages;  // all that are done, each result once
  uint64_t request = 0;                                  // of the cook
};

// The cause that a failure is put down to.
enum class FailureCause : uint8_t {
  kProject,   // its rule, references, cooked inputs or outputs do not fit with those of others
  kVerdict,   // its cooker's own judgement of its inputs
  kPackage,   // crashes, memory, time
  kLimit,     // outgrew a limit in each of its attempts, the last of them alone on its machine, or
              // did so in an earlier cook; such a failure is kept for some days
  kRefused,   // its job cannot be done as it is (a tool that fails or is not there): not kept
  kMachine,   // too many faults that no package explains
  kUnread,    // what it is made of, or what is known of it, could not be read now
  kUnproven,  // made again on other machines it came out different (proofs.h): not kept
};
inline constexpr FailureCause kLastFailureCause = FailureCause::kUnproven;
std::string_view FailureCauseName(FailureCause cause);  // "project"

// For people and the summary.
struct PackageFailed {
  PackageId package;
  std::optional<PlatformIndex> platform;  // nullopt: all
  Stage stage = Stage::kRequest;
  std::string error;
  std::string log;
  FailureCause cause = FailureCause::kProject;
  AttemptId attempt = 0;  // in which it failed; 0: in none
  WorkerId worker;        // of that attempt
  uint32_t attempts = 0;  // hand-overs in this cook
  uint32_t own_faults = 0;
  uint32_t infrastructure_faults = 0;
  ResultId verdict;  // of kVerdict: the result; else invalid
};
struct PackageWarned {
  PackageId package;
  std::optional<PlatformIndex> platform;
  record::WarningKind kind;
  std::string text;
  // The message is about what this cook did: another cook of the same may not have it.
  bool is_passing = false;
};
enum class ResultSource : uint8_t { kCooked, kCached, kUpToDate };
struct PackageDone {
  PackageId package;
  PlatformIndex platform = 0;
  ResultId result;
  ResultSource source = ResultSource::kCached;
};
// The package is in the cook no more: its file is gone, or nobody generates it; or it is not tried,
// since its generator failed. What was told of it is taken back.
struct PackageLeft {
  PackageId package;
};
// An attempt at the package ended through its own fault. When `own_faults` is less than before and
// nothing else is set, faults are forgiven: what the package is made of changed, or it was cleared.
struct PackageBlamed {
  PackageId package;
  uint32_t own_faults = 0;  // in this cook, and in the one that it goes on with
  std::string what;         // "crashed its executor"
  std::string error;        // why, in detail
  std::string log;          // digest text, or empty
};
// The worker made something else than two other machines: it gets no more jobs, and nothing that it
// says is believed any more.
struct WorkerQuarantined {
  WorkerId worker;
  PackageId package;  // where that was found
  PlatformIndex platform = 0;
  std::string others;  // the machines, for people
  // Packages of the cooks that run for which results of this worker were committed unproven, by the
  // time of the commits, some more than once; at most HeldResults::kUnprovenNamed.
  std::vector<PackageId> unproven;
};
// The worker, or each worker of the machine, gets no jobs for now (Breakers): too many failed there
// for the machine's sake. A cook is told once.
struct WorkerHeld {
  WorkerId worker;       // invalid: all of the machine
  std::string machine;   // for people; empty where a worker is named
  std::string why;       // the last fault
  bool is_over = false;  // a job succeeded there: it is used again. Told to no cook
};
// The worker's process broke the protocol too often: it counts as lost, and nothing that it says is
// taken any more. Another process may take its name.
struct WorkerViolated {
  WorkerId worker;
  uint64_t session = 0;  // the process
  std::string why;
};
// The cook's turn has come. It is in the slot until CookEnded, which is the last notice to it.
struct CookBegan {
  uint64_t request = 0;
  CookSlot slot = 0;
};
struct CookEnded {
  uint64_t request = 0;
  bool is_interrupted = false;
  bool is_fail_fast = false;
  std::string infrastructure_error;  // exit 3
  // Nothing that was asked for is there (any more): the cook has no roots, whatever it published
  // before others had it begin again.
  bool is_empty = false;
};
using Notice = std::variant<PackageFailed, PackageWarned, PackageDone, PackageLeft, PackageBlamed,
                            WorkerQuarantined, WorkerHeld, WorkerViolated, CookBegan, CookEnded>;
struct Notify {
  Notice notice;
  CookMask cooks = 0;  // that it is for, by slot; none: of a cook that does not run
};

// Answers QueryAsked.
struct Reply {
  struct Reason {
    PackageId package;
    InstigatorView why;
    bool operator==(const Reason&) const = default;
  };
  // kPackage
  struct Package {
    PackageId package;
    std::string state;  // "Save", "Save, pending", "Idle, cooked"
    Urgency urgency = Urgency::kLow;
    AttemptId attempt = 0;  // the current one; 0: none
    WorkerId worker;        // the one that has it
    uint32_t attempts = 0;  // hand-overs, while it is in the works
    uint32_t own_faults = 0;
    uint32_t infrastructure_faults = 0;
  };
  uint64_t query = 0;
  std::string error;  // not empty: an unknown package, or a cursor of another cook
  std::optional<Package> package;
  std::vector<Reason> reasons;
  std::optional<QueryAsked::Cursor> next;  // nullopt: that was all
};

using Effect = std::variant<Reply, LookUp, Desire, Spawn, Stop, Persist, Rescan, BuildRoot,
                            PublishRoot, StageRoots, LookForLost, Notify>;

}  // namespace galley::director
