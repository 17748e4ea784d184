// ReportReader: converts a worker's wire reports to the core's events. A worker is not trusted:
// ReportReader computes every key itself, checks the worker's claims, and keeps full results in the
// ResultTable. It hashes no large files: a result that needs the unknown digest of a large file is
// not current, and the look-up that follows hashes the file.
//
// Threads: any; the streams' threads call Read in parallel.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/journal/kept_limits.h"
#include "director/shell/default_limits.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/trace.h"
#include "director/shell/unreadable_inputs.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

// AttemptInfo: the package, platforms and inputs that a worker got with an attempt.
struct AttemptInfo {
  PackageId package;
  std::string name;
  PlatformMask platforms = 0;
  PlatformsPtr numbering;  // the platforms by number when the attempt was given
  RecipesPtr recipes;
  std::optional<Digest> generated_source;
  std::vector<CookedOutputs> cooked;  // by platform
  std::string worker;                 // the worker that has the attempt
  // True for a process that a director of this project started on this machine: the worker is
  // trusted on the location of a blob, and on the digest of a file without a known digest. False:
  // the director hashes the file.
  bool hashes_files = false;
};

class ReportReader {
 public:
  struct Deps {
    PresentSources sources;
    store::Store* store;
    ResultTable* results;
    Trace* trace;
    // Returns the machine of a worker, for the provenance of a result; empty: the machine that the
    // worker tells. The time of the result is then `now`. Null: machine and time are the worker's.
    std::function<std::string(const std::string& worker_id)> machine_of = nullptr;
    std::function<absl::Time()> now = nullptr;
    // Converts a time of a worker's clock to our clock, in microseconds, for the trace. Null: the
    // worker uses our clock.
    std::function<int64_t(const std::string& worker_id, int64_t us)> to_our_clock = nullptr;
  };
  ReportReader(const Deps& deps, std::string trust_domain, const DefaultLimits& defaults)
      : deps_(deps), trust_domain_(std::move(trust_domain)), defaults_(defaults) {}

  void Register(AttemptId attempt, std::shared_ptr<const AttemptInfo> info);
  // Forgets the attempts for which `is_known` returns false; no reports on them are expected.
  void ForgetUnless(absl::FunctionRef<bool(AttemptId)> is_known);

  // Converts a report. Never fails: an invalid report becomes a failed report with the reason.
  WorkerReport Read(const std::string& worker_id, const v1::Report& report);

  // Says whether the worker got the attempt.
  bool IsOf(AttemptId attempt, std::string_view worker_id) const;
  // Says whether the worker has an attempt that is not forgotten.
  bool HasAttempts(std::string_view worker_id) const;
  // Returns the blobs that an attempt was given to read.
  std::vector<GivenBlob> GivenTo(AttemptId attempt) const;

  // Returns the package of an attempt of the worker; empty: the worker did not get the attempt, or
  // it is forgotten.
  std::string PackageOf(AttemptId attempt, std::string_view worker_id) const;

  // Returns the programs that the attempt's recipes start (record::ProgramOf).
  std::vector<std::string> ProgramsOf(AttemptId attempt) const;

  // Returns the limit that the attempt exceeded, without time, stage and texts. nullopt: none, or
  // too many attempts have exceeded a limit since.
  std::optional<KeptLimit> OutgrownIn(AttemptId attempt) const;

  // Stops hashing files for reports, because reports are no longer needed.
  void Cancel() { cancellation_.Cancel(); }

  // Called when `result` is committed: forgets the locations of its blobs, which the store has now.
  void TakeCommitted(const record::Result& result);

  // Returns the location of a blob that a worker reported and that is in no commit yet.
  std::optional<store::BlobLocation> LocationOf(const Digest& digest) const;

 private:
  std::shared_ptr<const AttemptInfo> Find(AttemptId attempt) const;
  void TraceSpan(const std::string& worker_id, Trace::Span span) const;
  void TraceTransfers(const std::string& worker_id, const AttemptInfo& info,
                      const v1::Report& report) const;
  void ReadLoaded(const std::string& worker_id, const AttemptInfo& info, const v1::Loaded& loaded,
                  WorkerReport& report);
  void ReadSaved(const std::string& worker_id, const AttemptInfo& info, const v1::Saved& saved,
                 WorkerReport& report);
  absl::StatusOr<std::shared_ptr<StoredResult>> ToStored(const std::string& worker_id,
                                                         const AttemptInfo& info,
                                                         const v1::Saved& saved);
  void ReadFailed(const std::string& worker_id, const AttemptInfo& info, const v1::Failed& failed,
                  WorkerReport& report);
  static std::string ForeignPrograms(const std::string& worker_id, const AttemptInfo& info,
                                     const std::vector<record::Generated>& generated);
  static absl::Status CheckTools(const std::vector<std::string>& programs, const AttemptInfo& info,
                                 const Sources& sources,
                                 const std::vector<record::Observed>& observed);
  absl::StatusOr<KeptLimit> OutgrownBy(const AttemptInfo& info, const v1::Failed& failed) const;
  std::string KeepLog(const AttemptInfo& info, AttemptId attempt, std::string_view tail);
  void Remember(const google::protobuf::RepeatedPtrField<v1::BlobWritten>& blobs,
                std::vector<std::pair<Digest, store::BlobLocation>>* list);

  Deps deps_;
  std::string trust_domain_;
  DefaultLimits defaults_;
  Cancellation cancellation_;
  mutable base::Mutex mutex_;
  absl::flat_hash_map<AttemptId, std::shared_ptr<const AttemptInfo>> attempts_
      GALLEY_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, size_t> attempts_of_ GALLEY_GUARDED_BY(mutex_);  // by worker
  // The number of kept logs of each attempt of another machine.
  absl::flat_hash_map<AttemptId, int> logs_of_ GALLEY_GUARDED_BY(mutex_);
  absl::flat_hash_map<Digest, store::BlobLocation> locations_ GALLEY_GUARDED_BY(mutex_);
  std::map<AttemptId, KeptLimit> outgrown_ GALLEY_GUARDED_BY(mutex_);  // the last kOutgrownMax
};

}  // namespace galley::director
