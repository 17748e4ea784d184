// Journal: the director's memory of a project between cooks, in RocksDB under
// .galley/state/journal. The journal belongs to one store (id and loss epoch) and one snapshot
// table. Meta names both; they change only in one write with the records that depend on them.
//
// For each package and platform the journal has the last result with its key and observations, the
// reasons of the last cook, the package's instigators, and the cost. A reverse index leads from
// every path that an observation looked at (present or absent), and every folder that was listed or
// globbed, to the packages that looked: so a difference between two snapshots finds the affected
// packages without reading others. For an unfinished cook the journal has the packages that the
// cook blamed, and the attempts that it gave to its workers.
//
// Crash rule: before a new snapshot table becomes the base of differences, the packages that the
// difference affects are marked untrusted, in one synced write with the table's name. So after a
// crash in a cook, no later cook takes an affected package for up to date.
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
#include "common/content/changes.h"
#include "common/record/observation.h"

namespace galley::director {

struct JournalMeta {
  std::string project_id;  // random, made once
  std::string store_id;    // the store that has the results
  uint64_t loss_epoch = 0;
  uint32_t term = 0;       // of the last director
  std::string table_file;  // base snapshot table, under the state folder; empty: none
  std::string trust_domain;
  // StoreInfo::commits at the last write: a store with fewer commits is an older store, restored.
  uint64_t store_commits = 0;
  // Snapshot::identity of the table: a table with another identity is not the base, whatever its
  // name.
  std::string table_id;
  // The platforms for which PackageRecord::instigators is complete: it has each package that refers
  // to another in their last cook by the book (director/shell/instigator_notes.h). Empty: a
  // narrower cook replaced some of these reasons.
  std::string reasons_of;
};

// ChangedObservation: a reason why a platform's result was made or taken, for `galley why`.
struct ChangedObservation {
  // "source", "recipe", "recipe <part>" ("recipe cooker", "recipe setting quality"), or
  // Observation::ToString().
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
  std::vector<ChangedObservation> changed;  // since the previous record; empty with `is_first`
  bool is_first = false;                    // there was no previous record
  uint32_t cook = 0;                        // term of the director that recorded the cook
  bool is_forced = false;                   // that cook was forced
  // Waiting times of this platform's cook (Waited, director/core/events.h).
  absl::Duration request_time, queue_time, in_hand_time;
  uint32_t attempts = 0;
};

// FailureRecord: why a platform has no result, for `galley why`.
struct FailureRecord {
  uint32_t cook = 0;  // 0: no cook, but a device asked for the package
  absl::Time time;
  std::string stage;  // "request", "load", "save", "commit"
  std::string error;
  std::string log;     // digest text, or empty
  std::string cause;   // FailureCauseName
  std::string worker;  // empty: the failure was in no attempt
  uint64_t attempt = 0;
  uint32_t attempts = 0;
  uint32_t own_faults = 0;
  uint32_t infrastructure_faults = 0;
  bool operator==(const FailureRecord&) const = default;
};

// PublishedIn: the root with which a published key was first published.
struct PublishedIn {
  uint64_t sequence = 0;
  Digest root;
  // The store's loss epoch at that time, if the root was whole. Set only for the last published
  // root.
  std::optional<uint64_t> loss_epoch;
  bool operator==(const PublishedIn&) const = default;
};

struct PlatformRecord {
  Digest recipe;  // RecipeDigest
  Digest source;
  Digest weak_key;
  Digest action_key;
  std::string recipe_bytes;  // record::EncodeRecipe
  std::string result;        // record::EncodeResult; may be a verdict
  std::vector<record::Observed> observed;
  bool is_trusted = true;  // false after Invalidate
  // The action key in the root last published for this platform.
  std::optional<Digest> published_key;
  std::optional<PublishedIn> published_in;  // the first root with published_key; may be unknown
  LastCook last_cook;
};

struct InstigatorRecord {
  uint8_t category = 0;    // director::InstigatorCategory
  std::string referencer;  // empty: a root cause
  bool operator==(const InstigatorRecord&) const = default;
};

struct PackageRecord {
  std::map<std::string, PlatformRecord> platforms;  // by platform name
  std::vector<InstigatorRecord> instigators;        // of the last cook with the package
  std::map<std::string, FailureRecord> failures;    // by platform name; until the platform is done
};

// AttemptRecord: a job that was given to a worker, which may outlive its director.
struct AttemptRecord {
  struct Target {
    uint32_t platform = 0;  // its number at that time
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

// BlameRecord: how often attempts of a package failed by the package's own fault, in an unfinished
// cook.
struct BlameRecord {
  std::string package;
  uint32_t own_faults = 0;  // 0: forgiven; only in writes
  std::string what;         // the last fault: "crashed its executor"
  std::string error;
  std::string log;  // digest text, or empty
  bool operator==(const BlameRecord&) const = default;
};

// JournalProgress: the attempts and blame of an unfinished cook.
struct JournalProgress {
  std::vector<AttemptRecord> given;
  std::vector<uint64_t> over;  // attempts that no worker has in hand any more; only in writes
  std::vector<BlameRecord> blamed;
  bool empty() const { return given.empty() && over.empty() && blamed.empty(); }
};

// UnsentResult: a result that was cooked here and not yet sent to the upstream cache.
struct UnsentResult {
  std::string package;
  std::string platform;
  Digest action_key;
  bool is_dispute = false;  // disputes the earlier result of this key
  bool operator==(const UnsentResult&) const = default;
};

// JournalUpdate: one change of one package's record.
struct JournalUpdate {
  std::string package;
  std::string platform;
  PlatformRecord record;
  // True: this result has to be sent to an upstream cache. The write that makes the result durable
  // records that, until ForgetUnsent.
  bool is_unsent = false;
  bool is_dispute = false;
};

// FailureUpdate: a platform of a package failed; nullopt: it no longer fails.
struct FailureUpdate {
  std::string package;
  std::string platform;
  std::optional<FailureRecord> failure;
};

// A damaged journal, found at the opening or later, is moved aside, a new journal is begun with the
// last meta record, and that is noted (repairs.h); the call goes on with the new journal.
//
// Errors:
//   DATA_LOSS           the journal was opened for reading, or no new journal could be begun
//   RESOURCE_EXHAUSTED  too little space (nothing was written: RocksDB must not run into a full
//                       disk)
//   INVALID_ARGUMENT    a name is empty or holds NUL
class Journal {
 public:
  // Makes the journal if it is absent. A journal of another format version, or that RocksDB cannot
  // open, is moved aside (journal.broken-<n>) and a new journal begun: the journal is derived from
  // the store, so its loss costs only look-ups. `read_only`: for queries while a director has the
  // journal; sees everything recorded so far, and moves nothing. NOT_FOUND: `read_only`, and there
  // is no journal.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(const std::string& state_directory,
                                                       bool read_only = false);
  virtual ~Journal() = default;

  virtual const JournalMeta& meta() const = 0;
  virtual absl::Status SetMeta(const JournalMeta& meta) = 0;  // synced

  virtual absl::StatusOr<std::optional<PackageRecord>> Find(std::string_view package) = 0;
  // Returns only the package's instigators, which is quick; empty when the package is unknown.
  virtual absl::StatusOr<std::vector<InstigatorRecord>> InstigatorsOf(std::string_view package) = 0;
  // Visits all packages, sorted by name, in one scan.
  virtual absl::Status ForEach(
      const std::function<void(std::string_view package, PackageRecord record)>& visit) = 0;

  // Returns the names of the packages that the changes affect, sorted: packages that observed a
  // changed path; if its presence changed, packages that observed a folder above (as a file or
  // folder, or by listing or globbing), because folders come and go with their files; and packages
  // that read the cooked output of an affected package, transitively. May name a package whose
  // observations are unchanged, but never leaves an affected package out. Does not look at
  // observations of tools, the environment and platform parameters, which do not depend on the
  // snapshot: the caller compares them.
  virtual absl::StatusOr<std::vector<std::string>> Affected(
      std::span<const content::Change> changes) = 0;
  // Marks records untrusted, clears the blame of the packages, and makes `meta` the new meta
  // record, in one synced write.
  virtual absl::Status Invalidate(std::span<const std::string> packages,
                                  const JournalMeta& meta) = 0;
  // Replaces records; removes index entries that no longer hold, and the records of failures. One
  // write, synced if `sync`.
  virtual absl::Status Record(std::span<const JournalUpdate> updates, bool sync) = 0;
  virtual absl::Status RecordFailures(std::span<const FailureUpdate> updates) = 0;
  virtual absl::Status RecordInstigators(
      std::span<const std::pair<std::string, std::vector<InstigatorRecord>>> updates) = 0;
  // Call after a root was published, with the packages whose published_key differs and their action
  // keys in the root. `in`: that root.
  virtual absl::Status RecordPublished(
      std::string_view platform, const PublishedIn& in,
      std::span<const std::pair<std::string, std::optional<Digest>>> keys) = 0;
  // Returns the packages that have a published key for the platform, sorted. One scan over all
  // keys.
  virtual absl::StatusOr<std::vector<std::string>> PublishedPackages(std::string_view platform) = 0;
  // Returns the root last published for the platform, as far as the journal knows, without its
  // digest; sequence 0: none. If the store has a later root, its director died before it recorded
  // the root, and the published keys belong to no last root.
  virtual absl::StatusOr<PublishedIn> LastPublished(std::string_view platform) = 0;
  // Not synced: the next group of results makes the progress durable. A director's crash loses none
  // of it, and a power cut ends the workers as well.
  virtual absl::Status RecordProgress(const JournalProgress& progress) = 0;
  virtual absl::StatusOr<JournalProgress> Progress() = 0;  // sorted by attempt, by package
  // Synced, if there was any progress: without the sync a power cut could bring back the blame of
  // an ended cook.
  virtual absl::Status ForgetProgress() = 0;
  virtual absl::Status Forget(std::span<const std::string> packages) = 0;

  // Returns the results that were recorded as unsent, sorted by package and platform.
  virtual absl::StatusOr<std::vector<UnsentResult>> Unsent() { return std::vector<UnsentResult>(); }
  // Not synced: to send a result twice is harmless. If the package and platform has another unsent
  // result by now, that result stays.
  // Threads: any.
  virtual absl::Status ForgetUnsent(std::span<const UnsentResult>) { return absl::OkStatus(); }

  // Returns the name of the journal's state (generation.h) to a caller that will note it: the name
  // holds until Record, RecordFailures, Forget, or an Invalidate of packages, and until the journal
  // is made anew.
  virtual absl::StatusOr<std::string> RelyOnGeneration() {
    return absl::UnimplementedError("this journal has no generations");
  }

  // True: no package was known at the opening. False also if unknown.
  virtual bool WasEmpty() const { return false; }
  // True: the journal was found damaged after the opening, and was made anew. It may have lost
  // records, so Affected may leave affected packages out.
  virtual bool MadeAnew() const { return false; }

  // From now on calls `may_write` before each write; its error fails the write.
  virtual void Fence(std::function<absl::Status()> may_write) = 0;
};

// ProjectLock: allows one director for a project: an flock on .galley/state/lock, held while the
// object lives. ALREADY_EXISTS names the process that has the lock. A director that was stopped for
// long may have lost the lock: somebody removed the file, or the file system forgot the lock. So
// the director calls Check before each write, and SetTerm writes its term to the file.
class ProjectLock {
 public:
  static absl::StatusOr<std::unique_ptr<ProjectLock>> TryAcquire(
      const std::string& state_directory);
  // Calls `work`, which is short, if no director has the project, and keeps directors away until it
  // returns: TryAcquire waits for that. UNAVAILABLE: a director has it. Makes no file.
  static absl::Status WhileFree(const std::string& state_directory,
                                const std::function<absl::Status()>& work);
  virtual ~ProjectLock() = default;
  virtual absl::Status SetTerm(uint32_t term) = 0;
  // FAILED_PRECONDITION: another director has this project now, or had it since.
  // Threads: any.
  virtual absl::Status Check() const = 0;
};

}  // namespace galley::director
