// WorkerBytes: transfers bytes between the director and workers on machines without its files
// (calls Fetch, FindMissing and Upload of proto/galley/v1/worker.proto).
//
// A worker gets files of the mounts, and blobs, only for its own attempts, and only blobs that the
// attempt may read. For an attempt that starts programs, the worker also gets:
//
//   the digests of files outside the mounts that programs may name (told_tools.h)
//   whether anything exists at such a path, or in the folder of a mount
//   the bytes of the program itself
//
// A file is hashed while it is sent, so that its digest is the director's own.
//
// The source of a generated package is in the store only after its generator's results are
// committed, which may take long. Until then the source is read at the location that a worker of
// this machine reported.
//
// Uploaded bytes are stored under their digest, and mean nothing until an accepted result names
// them. A worker may upload while it has an attempt, or had an attempt in a running cook, and only
// a limited amount that no result names (UploadLedger).
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "common/base/cancellation.h"
#include "common/store/interface/store.h"
#include "director/shell/report_reader.h"
#include "director/shell/upload_ledger.h"
#include "director/shell/world.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

class WorkerBytes {
 public:
  static constexpr int kItemsMax = 1'024;    // for one call
  static constexpr int kDigestsMax = 4'096;  // for one call of FindMissing
  static constexpr int kLooksMax = 4'096;    // for one item
  // A blob of at most this size is held in memory; larger blobs go in pieces.
  static constexpr uint64_t kHeldBytesMax = 4ull << 20;

  struct Deps {
    const WorldHolder* world;
    const ReportReader* reports;
    store::Store* store;
    PresentSources sources;
    std::string state_directory;  // holds the snapshot tables
    UploadLedger::Limits uploads = {};
  };
  explicit WorkerBytes(Deps deps) : deps_(std::move(deps)), ledger_(deps_.uploads) {}

  // Stops reading and hashing files for workers; running calls end.
  void Cancel() { cancellation_.Cancel(); }

  // Sends the items of the request. `send`: returns false: the worker is gone. An error ends the
  // call; an error of a single item is sent with the item.
  absl::Status Fetch(const std::string& worker_id, const v1::FetchRequest& request,
                     const std::function<bool(const v1::FetchPiece&)>& send) const;
  absl::StatusOr<v1::FindMissingAnswer> FindMissing(const v1::FindMissingRequest& request) const;
  // Stores the uploaded blobs, and returns how many bytes the store did not have. `next`: returns
  // false: there are no more pieces. PERMISSION_DENIED: the worker has no attempt;
  // RESOURCE_EXHAUSTED: UploadLedger.
  absl::StatusOr<uint64_t> Upload(const std::string& worker_id,
                                  const std::function<bool(v1::UploadPiece&)>& next);
  // Notes that a worker without files got the attempt.
  void NoteGiven(const std::string& worker_id, AttemptId attempt);
  // Notes the worker's report on its own job.
  void NoteReport(const std::string& worker_id, const WorkerReport& report,
                  const ResultTable& results);
  // Ends the attempts for which `is_known` returns false in the UploadLedger.
  void EndUploadsUnless(absl::FunctionRef<bool(AttemptId attempt)> is_known);
  // Forgets workers without attempts in the UploadLedger. Called when ReportReader has forgotten
  // attempts.
  void ForgetUploads();

 private:
  class Pieces;
  class Counted;

  absl::Status FetchOne(const std::string& worker_id, const v1::FetchItem& item,
                        Pieces& pieces) const;
  absl::Status SendFile(const v1::FetchItem& item, Pieces& pieces) const;
  absl::Status SendBlob(const GivenBlob& blob, Pieces& pieces) const;
  absl::StatusOr<Blob> Read(const GivenBlob& blob) const;
  absl::StatusOr<std::unique_ptr<store::BlobReader>> NewReader(const GivenBlob& blob) const;
  absl::Status SendTool(const v1::FetchItem& item, Pieces& pieces) const;
  absl::Status SendFound(const v1::FetchItem& item, Pieces& pieces) const;
  absl::StatusOr<v1::FoundThere> Find(const v1::ProgramLook& look,
                                      const std::vector<std::string>& programs) const;
  std::vector<std::string> ProgramsOf(const v1::FetchItem& item) const;
  absl::Status SendProgram(const std::string& host_path, const Digest& wanted,
                           Pieces& pieces) const;
  absl::Status SendTable(const std::string& name, Pieces& pieces) const;

  mutable Cancellation cancellation_;
  const Deps deps_;
  UploadLedger ledger_;
};

}  // namespace galley::director
