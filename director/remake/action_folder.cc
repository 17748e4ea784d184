#include "director/remake/action_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/read_pieces.h"
#include "common/base/status_macros.h"
#include "common/record/observed_value.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using record::ObservationKind;

// Left free on the disk of the scratch folder, for the outputs.
constexpr uint64_t kFreeBytesMin = 64 << 20;

std::string WhatOf(const record::KeptAction& kept, std::string_view path) {
  for (size_t i = 0; i < kept.inputs.observed.size(); ++i) {
    const record::Observation& what = kept.inputs.observed[i].what;
    if (record::InputPath(what, i) == path) return what.ToString();
  }
  return fmt::format("the {}", path);
}

AbsentInput AbsentFile(const record::KeptAction& kept, const record::InputFile& file) {
  return {.digest = file.digest, .path = file.path, .what = WhatOf(kept, file.path)};
}

// The Action names no file for a program with an absolute path: the machine has it.
std::vector<AbsentInput> AbsentPrograms(const record::KeptAction& kept) {
  std::vector<AbsentInput> absent;
  for (const record::Observed& seen : kept.inputs.observed) {
    if (seen.what.kind != ObservationKind::kTool || !seen.what.subject.starts_with('/')) continue;
    const auto digest = record::CheckValue(seen);
    if (!digest.ok() || !digest->has_value()) continue;
    const absl::StatusOr<Digest> here = DigestOfFile(seen.what.subject);
    if (here.ok() && *here == **digest) continue;
    absent.push_back({.digest = **digest, .path = seen.what.subject, .what = seen.what.ToString()});
  }
  return absent;
}

absl::StatusOr<std::vector<AbsentInput>> AbsentFiles(const record::KeptAction& kept,
                                                     store::BlobStore& store) {
  std::vector<Digest> digests;
  for (const record::InputFile& file : kept.action.files) {
    if (!file.bytes.has_value()) digests.push_back(file.digest);
  }
  ASSIGN_OR_RETURN(const std::vector<Digest> missing, store.FindMissing(digests));
  const absl::flat_hash_set<Digest> set(missing.begin(), missing.end());
  std::vector<AbsentInput> absent;
  for (const record::InputFile& file : kept.action.files) {
    if (!file.bytes.has_value() && set.contains(file.digest))
      absent.push_back(AbsentFile(kept, file));
  }
  return absent;
}

absl::Status CheckRoom(const record::KeptAction& kept, const std::string& directory) {
  uint64_t bytes = kFreeBytesMin;
  for (const record::InputFile& file : kept.action.files) bytes += file.digest.size_bytes();
  ASSIGN_OR_RETURN(const uint64_t free_bytes, FreeBytesAt(directory));
  if (free_bytes >= bytes) return absl::OkStatus();
  return ResourceExhaustedError("{} has {} free, and the inputs of the Action take {}", directory,
                                HumanBytes(free_bytes), HumanBytes(bytes));
}

absl::Status CopyBlob(const Digest& digest, store::BlobStore& store, const std::string& path,
                      const Cancellation& stop) {
  ASSIGN_OR_RETURN(const std::unique_ptr<store::BlobReader> reader, store.NewReader(digest, 0));
  const PieceStream pieces = [&](const TakePiece& take) -> absl::Status {
    while (true) {
      if (stop.is_cancelled()) return absl::CancelledError("nobody waits for the outputs");
      ASSIGN_OR_RETURN(const std::string_view piece, reader->Next(kPieceBytesMax));
      if (piece.empty()) return absl::OkStatus();
      RETURN_IF_ERROR(take(piece));
    }
  };
  ASSIGN_OR_RETURN(const Digest written, WriteInPieces(path, pieces));
  if (written == digest) return absl::OkStatus();
  return DataLossError("blob {}: other bytes were read", digest.ToString());
}

absl::Status WriteInput(const record::InputFile& file, store::BlobStore& store,
                        const std::string& root, const Cancellation& stop) {
  const std::string path = JoinPath(root, file.path);
  RETURN_IF_ERROR(CreateDirectories(std::filesystem::path(path).parent_path().string()));
  RETURN_IF_ERROR(file.bytes.has_value() ? WriteFileAtomic(path, *file.bytes)
                                         : CopyBlob(file.digest, store, path, stop));
  if (file.is_executable && ::chmod(path.c_str(), 0755) != 0)
    return ErrnoStatus(errno, "chmod", path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<AbsentInput>> LayOutAction(const record::KeptAction& kept,
                                                      store::BlobStore& store,
                                                      const std::string& directory,
                                                      const Cancellation& stop) {
  ASSIGN_OR_RETURN(std::vector<AbsentInput> absent, AbsentFiles(kept, store));
  for (AbsentInput& program : AbsentPrograms(kept)) absent.push_back(std::move(program));
  if (!absent.empty()) return absent;
  RETURN_IF_ERROR(CheckRoom(kept, directory));
  const std::string root = JoinPath(directory, "input");
  for (const record::InputFile& file : kept.action.files) {
    const absl::Status written = WriteInput(file, store, root, stop);
    // Lost since it was looked for, or wrong.
    const bool is_absent =
        !file.bytes.has_value() && (absl::IsNotFound(written) || absl::IsDataLoss(written));
    if (is_absent) absent.push_back(AbsentFile(kept, file));
    if (!is_absent) RETURN_IF_ERROR(written);
  }
  RETURN_IF_ERROR(WriteFileAtomic(JoinPath(directory, "action"), kept.action.action));
  RETURN_IF_ERROR(WriteFileAtomic(JoinPath(directory, "command"), kept.action.command));
  return absent;
}

}  // namespace galley::director
