// Journal: the director's memory of a project between cooks, in RocksDB under
// .galley/state/journal. What it says holds for one store (id and loss epoch) and one snapshot
// table; both are part of its Meta and change only together with what they decide.
//
// Per package: for each platform the last result with its key and observations, why it was last
// cooked, why it is in the cook, what it cost. A reverse index leads from every path that an
// observation looked at (present or absent) and every folder that was listed or globbed to the
// packages that looked, so that a difference between two snapshots finds the affected packages
// without touching the others. And of a cook that has not ended: whom it blamed, and what it gave
// to its workers.
//
// Crash rule: before a new snapshot table becomes the base of differences, the packages that the
// difference affects are marked untrusted, in one synced write with the table's name. So a cook
// that dies in the middle leaves nothing that a later one could take for up to date.
//
// Threads: Open on one thread; scans and reads on any; Record, Invalidate from one thread at a time
// (the commit thread).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/content/snapshot.h"
#include "common/record/observation.h"

namespace galley::director {

struct JournalMeta {
  std::string project_id;  // random, made once
  std::string store_id;    // of the store for which the results hold
  uint64_t loss_epoch = 0;
  uint32_t term = 0;       // of the last director
  std::string table_file;  // name under the state folder of the base snapshot table; empty: none
  std::string trust_domain;
  uint64_t store_commits = 0;  // StoreInfo::commits when this was last written: a store with fewer
                               // is an older one, restored
  std::string table_id;        // Snapshot::identity of the table: one with another is not the base,
                               // whatever its name
  // PackageRecord::instigators has each package that refers to another one in the last cook by the
  // book, of these platforms (director/shell/instigator_notes.h); empty: a narrower cook wrote its
  // own reasons in place of some of them.
  std::string reasons_of;
};

// Why a platform's result was made or taken, for `galley why`.
struct ChangedObservation {
  // "source", "recipe", "recipe <part>" ("recipe cooker", "recipe setting quality"), or
  // Observation::ToString()
  std::string what;
  std::string before;
  std::string after;
  bool operator==(const ChangedObservation&) const = default;
};

struct LastCook {
  std::string source;  // "cooked", "cached"
  absl::Time time;
  std::string worker;
  uint64_t attempt = 0;
  absl::Duration load_time;
  absl::Duration save_time;
  std::vector<ChangedObservation> changed;  // against the record before; empty with `is_first`
  bool is_first = false;                    // there was no record
  uint32_t cook = 0;                        // its number: the term of the director that recorded it
  bool is_forced = false;                   // that cook was forced
  // The times that the cook of this platform took (Waited, director/core/events.h).
  absl::Duration request_time, queue_time, in_hand_time;
  uint32_t attempts = 0;
};

// Why a platform has no result, for `galley why`.
struct FailureRecord {
  uint32_t cook = 0;
  absl::Time time;
  std::string stage;  // "request", "load", "save", "commit"
  std::string error;
  std::string log;     // digest text, or empty
  std::string cause;   // FailureCauseName
  std::string worker;  // empty: it failed in no attempt
  uint64_t attempt = 0;
  uint32_t attempts = 0;
  uint32_t own_faults = 0;
  uint32_t infrastructure_faults = 0;
  bool operator==(const FailureRecord&) const = default;
};

// The root in which a published key came to stand.
struct PublishedIn {
  uint64_t sequence = 0;
  Digest root;
  // The store's loss epoch then, if the root was whole. Only of the root last published.
  std::optional<uint64_t> loss_epoch;
  bool operator==(const PublishedIn&) const = default;
};

struct PlatformRecord {
  Digest recipe;  // RecipeDigest
  Digest source;
  Digest weak_key;
  Digest action_key;
  std::string recipe_bytes;  // record::EncodeRecipe
  std::string result;        // record::EncodeResult; a verdict too
  std::vector<record::Observed> observed;
  bool is_trusted = true;  // false after Invalidate
  // Its action key in the root last published for this platform.
  std::optional<Digest> published_key;
  std::optional<PublishedIn> published_in;  // since when; may be unknown
  LastCook last_cook;
};

struct InstigatorRecord {
  uint8_t category = 0;    // director::InstigatorCategory
  std::string referencer;  // empty: a root cause
  bool operator==(const InstigatorRecord&) const = default;
};

struct PackageRecord {
  std::map<std::string, PlatformRecord> platforms;  // by platform name
  std::vector<InstigatorRecord> instigators;        // of the last cook that it was in
  std::map<std::string, FailureRecord> failures;    // by platform name; until it is done there
};

// A job that was given to a worker, who may outlive its director.
struct AttemptRecord {
  struct Target {
    uint32_t platform = 0;  // its number then
    std::string name;
    Digest recipe;  // RecipeDigest
    bool operator==(const Target&) const = default;
  };
  uint64_t attempt = 0;
  std::string worker;
  std::string package;
  std::vector<Target> targets;
  std::optional<Digest> generated_source;
  bool operator==(const AttemptRecord&) const = default;
};

// How often a package's attempts ended through its own fault, in a cook that has not ended.
struct BlameRecord {
  std::string package;
  uint32_t own_faults = 0;  // 0: it is forgiven; to be written only
  std::string what;         // of the last: "crashed its executor"
  std::string error;
  std::string log;  // digest text, or empty
  bool operator==(const BlameRecord&) const = default;
};

// JournalProgress: the attempts and blame of a cook that has not ended.
struct JournalProgress {
  std::vector<AttemptRecord> given;
  std::vector<uint64_t> over;  // to be written only: attempts that are in nobody's hands
  std::vector<BlameRecord> blamed;
  bool empty() const { return given.empty() && over.empty() && blamed.empty(); }
};

// A result that was cooked here and that a store of other people was not given yet.
struct UnsentResult {
  std::string package;
  std::string platform;
  Digest action_key;
  bool is_dispute = false;  // of the result that had this key before
  bool operator==(const UnsentResult&) const = default;
};

// One change of one package's record.
struct JournalUpdate {
  std::string package;
  std::string platform;
  PlatformRecord record;
  // There is a store of other people that is to be given this result: the journal knows of it from
  // the write on that makes the result durable, until ForgetUnsent.
  bool is_unsent = false;
  bool is_dispute = false;
};

// A platform of a package failed; nullopt: it does no longer.
struct FailureUpdate {
  std::string package;
  std::string platform;
  std::optional<FailureRecord> failure;
};

// A journal that is found damaged, when it is opened or later, is moved aside, a new one is begun
// with the last meta record, and it is noted (healed.h); the call then goes on with the new one.
//
// Errors:
//   DATA_LOSS           it was opened to be read only, or no new one could be begun
//   RESOURCE_EXHAUSTED  too little space (nothing was written: RocksDB must not run into a full
//                       disk)
//   INVALID_ARGUMENT    a name is empty or holds NUL
class Journal {
 public:
  // Makes what is missing. A journal of another format version, or one that RocksDB cannot open, is
  // moved aside (journal.broken-<n>) and a new one begun: it is a memory of what the store holds,
  // losing it costs look-ups. `read_only`: for queries while a director has it; what was recorded
  // up to now is seen; NOT_FOUND when there is none, and nothing is moved.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(const std::string& state_directory,
                                                       bool read_only = false);
  virtual ~Journal() = default;

  virtual const JournalMeta& meta() const = 0;
  virtual absl::Status SetMeta(const JournalMeta& meta) = 0;  // synced

  virtual absl::StatusOr<std::optional<PackageRecord>> Find(std::string_view package) = 0;
  // Only its instigators, which is quick; empty when it is not known.
  virtual absl::StatusOr<std::vector<InstigatorRecord>> InstigatorsOf(std::string_view package) = 0;
  // All packages, sorted by name, in one scan.
  virtual absl::Status ForEach(
      const std::function<void(std::string_view package, PackageRecord record)>& visit) = 0;

  // Names of packages whose observations meet a change: by path; by every folder above (seen as a
  // file or folder, listed, globbed) when presence changed, for folders come and go with their
  // files; and whoever reads the cooked output of one of these, transitively. May name a package
  // whose observations are as they were, never leaves one out. Observations of tools, the
  // environment and platform parameters are no matter of the snapshot: the caller compares them.
  // Sorted.
  virtual absl::StatusOr<std::vector<std::string>> Affected(
      std::span<const content::Change> changes) = 0;
  // Marks records untrusted, forgives the packages, and makes `meta` the new one, in one synced
  // write.
  virtual absl::Status Invalidate(std::span<const std::string> packages,
                                  const JournalMeta& meta) = 0;
  // Replaces records; index entries of the old record that no longer hold go, and what is known of
  // a failure. One write, synced when `sync`.
  virtual absl::Status Record(std::span<const JournalUpdate> updates, bool sync) = 0;
  virtual absl::Status RecordFailures(std::span<const FailureUpdate> updates) = 0;
  virtual absl::Status RecordInstigators(
      std::span<const std::pair<std::string, std::vector<InstigatorRecord>>> updates) = 0;
  // After a root was published: packages and their action keys in it; only those whose
  // published_key differs are given. `in`: that root.
  virtual absl::Status RecordPublished(
      std::string_view platform, const PublishedIn& in,
      std::span<const std::pair<std::string, std::optional<Digest>>> keys) = 0;
  // The packages that have a published key for the platform, sorted. One scan over all keys.
  virtual absl::StatusOr<std::vector<std::string>> PublishedPackages(std::string_view platform) = 0;
  // The root last published for the platform, as far as the journal knows, without its digest;
  // sequence 0: none. When the store has a later root, a director published that and died before it
  // could say so: the published keys are then of no root that is the last.
  virtual absl::StatusOr<PublishedIn> LastPublished(std::string_view platform) = 0;
  // Not synced: the next group of results makes it durable. A director that dies loses none of it,
  // and a power cut ends the workers, too.
  virtual absl::Status RecordProgress(const JournalProgress& progress) = 0;
  virtual absl::StatusOr<JournalProgress> Progress() = 0;  // sorted by attempt, by package
  // Synced, if there was any: else a power cut could bring back whom a cook that ended had blamed.
  virtual absl::Status ForgetProgress() = 0;
  virtual absl::Status Forget(std::span<const std::string> packages) = 0;

  // The results that were recorded as unsent, sorted by package and platform.
  virtual absl::StatusOr<std::vector<UnsentResult>> Unsent() { return std::vector<UnsentResult>(); }
  // Not synced: a result that is sent twice does no harm. When a package and platform has another
  // unsent result by now, that one stays.
  // Threads: any.
  virtual absl::Status ForgetUnsent(std::span<const UnsentResult>) { return absl::OkStatus(); }

  // The name of what the journal says of packages (generation.h), for whoever notes it: it holds
  // until Record, RecordFailures, Forget, or an Invalidate of packages, and until the journal is
  // made anew. Threads: any.
  virtual absl::StatusOr<std::string> RelyOnGeneration() {
    return absl::UnimplementedError("this journal has no generations");
  }

  // True when no package was known at the opening; false also when that is not known.
  virtual bool WasEmpty() const { return false; }
  // True when the journal was found damaged after it was opened, and was made anew: it may have
  // lost what it said before, so packages that it does not name as affected may be affected.
  virtual bool MadeAnew() const { return false; }

  // `may_write` is asked before each write from now on; when it answers other than OK, that is the
  // write's answer.
  virtual void Fence(std::function<absl::Status()> may_write) = 0;
};

// One director for a project: an flock on .galley/state/lock, held while the object lives.
// ALREADY_EXISTS says which process has it. A director that was stopped for long may have been
// robbed of it in the meantime, by someone who removed the file (or the file system forgot it): so
// it looks before each write whether the file is still its own, and says its term.
class ProjectLock {
 public:
  static absl::StatusOr<std::unique_ptr<ProjectLock>> TryAcquire(
      const std::string& state_directory);
  virtual ~ProjectLock() = default;
  virtual absl::Status SetTerm(uint32_t term) = 0;
  // FAILED_PRECONDITION: another director has this project now, or had it since.
  // Threads: any.
  virtual absl::Status Check() const = 0;
};

}  // namespace galley::director
