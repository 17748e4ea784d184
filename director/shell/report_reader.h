// ReportReader: turns a worker's wire reports into the core's events. It recomputes every key
// itself, checks what a worker claims, and keeps full results in the ResultTable: a worker's word
// alone decides nothing. It hashes no large file: a result that needs the digest of one that nobody
// knows is not current, and the look-up that follows has the file hashed beside the rest.
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

// The package, platforms and inputs that were handed over with an attempt.
struct AttemptInfo {
  PackageId package;
  std::string name;
  PlatformMask platforms = 0;
  PlatformsPtr numbering;  // the platforms as they were numbered then
  RecipesPtr recipes;
  std::optional<Digest> generated_source;
  std::vector<CookedOutputs> cooked;  // by platform
  std::string worker;                 // in whose hands
  // It is a process that this director, or an earlier one, started on this machine: its word on the
  // digest of a file is taken, where none is known, and on the place of a blob. Else the file is
  // hashed here.
  bool hashes_files = false;
};

class ReportReader {
 public:
  struct Deps {
    PresentSources sources;
    store::Store* store;
    ResultTable* results;
    Trace* trace;
    // What a result says of who made it and when: the machine of a worker (empty: as it says
    // itself), and the present time. Null: as the worker says.
    std::function<std::string(const std::string& worker_id)> machine_of = nullptr;
    std::function<absl::Time()> now = nullptr;
    // A time of a worker's clock by ours, in microseconds, for the trace. Null: it has ours.
    std::function<int64_t(const std::string& worker_id, int64_t us)> to_our_clock = nullptr;
  };
  ReportReader(const Deps& deps, std::string trust_domain, const DefaultLimits& defaults)
      : deps_(deps), trust_domain_(std::move(trust_domain)), defaults_(defaults) {}

  void Register(AttemptId attempt, std::shared_ptr<const AttemptInfo> info);
  // Attempts that are not known any more are forgotten: nobody reports on them.
  void ForgetUnless(absl::FunctionRef<bool(AttemptId)> is_known);

  // Never fails: a report that cannot be believed becomes a failed report with its reason.
  WorkerReport Read(const std::string& worker_id, const v1::Report& report);

  // The attempt was given to that worker.
  bool IsOf(AttemptId attempt, std::string_view worker_id) const;
  // The worker was given an attempt that is not forgotten yet.
  bool HasAttempts(std::string_view worker_id) const;
  // The blobs that an attempt was given to read.
  std::vector<GivenBlob> GivenTo(AttemptId attempt) const;

  // The package of an attempt that was given to that worker; empty: it was not, or is long over.
  std::string PackageOf(AttemptId attempt, std::string_view worker_id) const;

  // The programs that the attempt's recipes start (record::ProgramOf).
  std::vector<std::string> ProgramsOf(AttemptId attempt) const;

  // The limit that the attempt outgrew, without time, stage and words. nullopt: none, or too many
  // attempts outgrew one since.
  std::optional<KeptLimit> OutgrownIn(AttemptId attempt) const;

  // Nobody waits for what is read any more: files are no longer hashed for it.
  void Cancel() { cancellation_.Cancel(); }

  // A commit named its blobs: the store says where they lie, if they do.
  void TakeCommitted(const record::Result& result);

  // Where a blob lies that a worker reported and no commit has named yet.
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
  // How many ends of logs were kept of an attempt of another machine.
  absl::flat_hash_map<AttemptId, int> logs_of_ GALLEY_GUARDED_BY(mutex_);
  absl::flat_hash_map<Digest, store::BlobLocation> locations_ GALLEY_GUARDED_BY(mutex_);
  std::map<AttemptId, KeptLimit> outgrown_ GALLEY_GUARDED_BY(mutex_);  // the last kOutgrownMax
};

}  // namespace galley::director
