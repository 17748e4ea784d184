// WorkerBytes: the bytes that go between the director and workers on machines without its files
// (calls Fetch, FindMissing and Upload of proto/galley/v1/worker.proto).
//
// A worker gets files of the mounts, and blobs, only for an attempt of its own, and only blobs that
// the attempt may read. For an attempt that starts programs, the worker is told the digests of
// files outside of the mounts that programs may name (a system's files, and the project's files
// that are not hidden), and whether there is anything at such a path, or in the folder of a mount;
// the worker also gets the bytes of the program itself. Files are hashed while they are sent, so
// that the digest under which a worker has a file is the director's own finding.
//
// The source of a generated package is in the store only when its generator's results are, which
// may take long; if a worker of this machine wrote the source, the source is read there.
//
// Bytes that a worker brings are stored under their digest, and mean nothing until an accepted
// result names them. A worker may bring bytes while it has an attempt, or had one in a cook that
// runs, and only a limited amount that no result names (UploadLedger).
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
  static constexpr int kItemsMax = 1'024;    // of a call
  static constexpr int kDigestsMax = 4'096;  // of a call of FindMissing
  static constexpr int kLooksMax = 4'096;    // of an item
  // A blob of at most this size is held in memory; larger blobs go in pieces.
  static constexpr uint64_t kHeldBytesMax = 4ull << 20;

  struct Deps {
    const WorldHolder* world;
    const ReportReader* reports;
    store::Store* store;
    PresentSources sources;
    std::string state_directory;  // has the tables of snapshots
    UploadLedger::Limits uploads = {};
  };
  explicit WorkerBytes(Deps deps) : deps_(std::move(deps)), ledger_(deps_.uploads) {}

  // Stops reading and hashing files for workers: calls under way end.
  void Cancel() { cancellation_.Cancel(); }

  // `send`: false: nobody listens any more. An error ends the call, and does not concern one item
  // only.
  absl::Status Fetch(const std::string& worker_id, const v1::FetchRequest& request,
                     const std::function<bool(const v1::FetchPiece&)>& send) const;
  absl::StatusOr<v1::FindMissingAnswer> FindMissing(const v1::FindMissingRequest& request) const;
  // Returns how many bytes the store did not have. `next`: false: there are no more pieces.
  // PERMISSION_DENIED: the worker has no attempt; RESOURCE_EXHAUSTED: UploadLedger.
  absl::StatusOr<uint64_t> Upload(const std::string& worker_id,
                                  const std::function<bool(v1::UploadPiece&)>& next);
  // Notes that a worker without files got the attempt.
  void NoteGiven(const std::string& worker_id, AttemptId attempt);
  // Notes the worker's report on a job of its own.
  void NoteReport(const std::string& worker_id, const WorkerReport& report,
                  const ResultTable& results);
  // Ends uploads for attempts that are not known, on which nobody reports any more.
  void EndUploadsUnless(absl::FunctionRef<bool(AttemptId attempt)> is_known);
  // Follows ReportReader when it has forgotten attempts.
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
