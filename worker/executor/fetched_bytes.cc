#include "worker/executor/fetched_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/read_pieces.h"
#include "common/base/status_macros.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_writer.h"
#include "common/wire/convert.h"

namespace galley::worker {
namespace {

constexpr size_t kLooksMax = 4'096;  // in a single call

v1::ExecutorWant WantOfBlob(const Digest& digest) {
  v1::ExecutorWant want;
  wire::ToProto(digest, want.mutable_blob());
  return want;
}

v1::ExecutorWant WantOfFile(const std::string& path, const std::optional<Digest>& digest) {
  v1::ExecutorWant want;
  want.set_path(path);
  if (digest.has_value()) wire::ToProto(*digest, want.mutable_digest());
  return want;
}

// Why bytes cannot be had. A file that has changed makes the attempt stale; every other error is
// trouble of machines, whatever its code.
absl::Status TroubleOfMachines(const absl::Status& status) {
  return absl::IsAborted(status) ? status : absl::UnavailableError(MessageOf(status));
}

bool IsAt(const std::string& place, const Digest& digest) {
  const absl::StatusOr<Digest> there = DigestOfFile(place);
  return there.ok() && *there == digest;
}

absl::Status StreamInPlace(const std::string& place, const Digest& digest, const TakePiece& take) {
  DigestBuilder hash;
  absl::Status taken;
  const absl::Status read = ReadInPieces(place, [&](std::string_view piece) {
    hash.Add(piece);
    return taken = take(piece);
  });
  RETURN_IF_ERROR(taken);
  if (read.ok() && hash.Finish() == digest) return absl::OkStatus();
  return UnavailableError("{} changed while it was read", place);
}

// Marks the blob as used, so that it stays in the cache.
void Touch(const std::string& file) { ::utimensat(AT_FDCWD, file.c_str(), nullptr, 0); }

}  // namespace

// Asks for the file, and remembers the digest in the answer.
absl::StatusOr<Digest> FetchedBytes::Ask(const v1::ExecutorWant& want, const std::string& path) {
  const absl::StatusOr<v1::ExecutorBytes> asked = link_.Want(want);
  if (!asked.ok()) return TroubleOfMachines(asked.status());
  const v1::ExecutorBytes& answer = *asked;
  ASSIGN_OR_RETURN(const Digest digest, wire::FromProto(answer.digest()));
  // A director at a later state of the project may have answered for that state.
  const content::FileEntry* entry = snapshot_.Find(path);
  if (entry == nullptr || entry->stat.size_bytes != digest.size_bytes())
    return AbortedError("{} changed", path);
  RETURN_IF_ERROR(snapshot_.LearnDigest(path, digest));
  return digest;
}

absl::StatusOr<Digest> FetchedBytes::DigestOf(const std::string& path) {
  if (const auto known = snapshot_.KnownDigest(path)) return *known;
  RETURN_IF_ERROR(snapshot_.CheckUsable(path));
  v1::ExecutorWant want = WantOfFile(path, std::nullopt);
  want.set_is_digest_only(true);
  return Ask(want, path);
}

std::optional<std::string> FetchedBytes::PlaceOf(const std::string& path) const {
  if (shared_path_.empty()) return std::nullopt;
  const content::FileEntry* entry = snapshot_.Find(path);
  if (entry == nullptr || !entry->host_path.starts_with(project_root_ + "/")) return std::nullopt;
  std::string place = JoinPath(shared_path_, entry->host_path.substr(project_root_.size() + 1));
  const absl::StatusOr<FileStat> stat = StatFile(place, /*follow_links=*/true);
  if (!stat.ok() || stat->size_bytes != entry->stat.size_bytes) return std::nullopt;
  return place;
}

// Asks for the bytes of a file of unknown digest; only for the digest, if the file may lie on this
// machine.
absl::StatusOr<Digest> FetchedBytes::Have(const std::string& path) {
  RETURN_IF_ERROR(snapshot_.CheckUsable(path));
  if (const auto known = snapshot_.KnownDigest(path)) return *known;
  v1::ExecutorWant want = WantOfFile(path, std::nullopt);
  want.set_is_digest_only(PlaceOf(path).has_value());
  return Ask(want, path);
}

absl::StatusOr<content::Snapshot::Content> FetchedBytes::Read(const std::string& path,
                                                              uint64_t size_bytes_max) {
  RETURN_IF_ERROR(snapshot_.CheckUsable(path));
  if (const uint64_t size_bytes = snapshot_.Find(path)->stat.size_bytes;
      size_bytes > size_bytes_max) {
    return ResourceExhaustedError("{} has {} bytes, the limit is {}", path, size_bytes,
                                  size_bytes_max);
  }
  ASSIGN_OR_RETURN(const Digest digest, Have(path));
  if (const std::optional<std::string> place = PlaceOf(path)) {
    absl::StatusOr<std::string> there = ReadFile(*place, digest.size_bytes());
    if (there.ok() && Digest::Of(*there) == digest)
      return content::Snapshot::Content{.bytes = MakeBlob(*std::move(there)), .digest = digest};
  }
  ASSIGN_OR_RETURN(Blob bytes, ReadFromCache(digest, WantOfFile(path, digest)));
  return content::Snapshot::Content{.bytes = std::move(bytes), .digest = digest};
}

absl::StatusOr<Digest> FetchedBytes::Stream(const std::string& path, const TakePiece& take) {
  const absl::StatusOr<Digest> known = Have(path);
  if (absl::IsNotFound(known.status())) return AbortedError("{} is gone", path);
  RETURN_IF_ERROR(known.status());
  const Digest digest = *known;
  // IsAt reads the file before it is streamed, since bytes cannot be taken back from `take`.
  if (const std::optional<std::string> place = PlaceOf(path);
      place.has_value() && IsAt(*place, digest)) {
    RETURN_IF_ERROR(StreamInPlace(*place, digest, take));
    return digest;
  }
  RETURN_IF_ERROR(StreamFromCache(digest, WantOfFile(path, digest), take));
  return digest;
}

absl::StatusOr<Blob> FetchedBytes::ReadBlob(const Digest& digest) {
  return ReadFromCache(digest, WantOfBlob(digest));
}

absl::Status FetchedBytes::StreamBlob(const Digest& digest, const TakePiece& take) {
  return StreamFromCache(digest, WantOfBlob(digest), take);
}

absl::StatusOr<v1::ExecutorBytes> FetchedBytes::AskOfPrograms(const v1::ExecutorWant& want) {
  absl::StatusOr<v1::ExecutorBytes> asked = link_.Want(want);
  // PERMISSION_DENIED and INVALID_ARGUMENT are no trouble of machines: a machine without the
  // project can never know the answer, or a director of an older build does not give it.
  if (absl::IsPermissionDenied(asked.status()) || absl::IsInvalidArgument(asked.status()))
    return absl::FailedPreconditionError(MessageOf(asked.status()));
  if (!asked.ok()) return TroubleOfMachines(asked.status());
  return asked;
}

absl::StatusOr<v1::ExecutorBytes> FetchedBytes::DirectorsTool(const std::string& path) {
  v1::ExecutorWant want;
  want.set_tool(path);
  want.set_is_digest_only(true);
  return AskOfPrograms(want);
}

absl::StatusOr<std::vector<v1::FoundThere>> FetchedBytes::DirectorsFinds(
    const std::vector<v1::ProgramLook>& looks) {
  std::vector<v1::FoundThere> found;
  while (found.size() < looks.size()) {
    v1::ExecutorWant want;
    const size_t begin = found.size();
    const size_t end = std::min(looks.size(), begin + kLooksMax);
    for (size_t i = begin; i < end; ++i) *want.mutable_looks()->add_looks() = looks[i];
    ASSIGN_OR_RETURN(const v1::ExecutorBytes answer, AskOfPrograms(want));
    if (static_cast<size_t>(answer.found_size()) != end - begin)
      return absl::UnavailableError(
          "the director answered another number of looks than it was asked");
    found.insert(found.end(), answer.found().begin(), answer.found().end());
  }
  return found;
}

absl::Status FetchedBytes::StreamTool(const std::string& path, const Digest& digest,
                                      const TakePiece& take) {
  v1::ExecutorWant want;
  want.set_tool(path);
  wire::ToProto(digest, want.mutable_digest());
  return StreamFromCache(digest, std::move(want), take);
}

absl::StatusOr<Blob> FetchedBytes::ReadFromCache(const Digest& digest, v1::ExecutorWant want) {
  if (digest.size_bytes() == 0) return MakeBlob("");
  absl::StatusOr<Blob> bytes = store::ReadBlobAt(cache_directory_, digest, {});
  // An unreadable blob is fetched, and fetched once more if somebody removes or damages it
  // meanwhile.
  for (int i = 0; i < 2 && !bytes.ok(); ++i) {
    want.set_is_damaged(::access(store::BlobFilePath(cache_directory_, digest).c_str(), F_OK) == 0);
    if (const absl::Status had = link_.Want(want).status(); !had.ok())
      return TroubleOfMachines(had);
    bytes = store::ReadBlobAt(cache_directory_, digest, {});
  }
  if (bytes.ok()) {
    Touch(store::BlobFilePath(cache_directory_, digest));
    return bytes;
  }
  return UnavailableError("blob {} was fetched, and cannot be read from {}: {}", digest.ToString(),
                          cache_directory_, MessageOf(bytes.status()));
}

// Bytes are never handed out twice: if the file turns out to be damaged, the job begins anew.
absl::Status FetchedBytes::StreamFromCache(const Digest& digest, v1::ExecutorWant want,
                                           const TakePiece& take) {
  if (digest.size_bytes() == 0) return absl::OkStatus();
  const std::string file = store::BlobFilePath(cache_directory_, digest);
  if (::access(file.c_str(), R_OK) != 0) {
    if (const absl::Status had = link_.Want(want).status(); !had.ok())
      return TroubleOfMachines(had);
  }
  Touch(file);
  const auto unreadable = [&](const absl::Status& status) {
    want.set_is_damaged(true);
    link_.Want(want).status().IgnoreError();  // so that the next attempt finds the blob whole
    return UnavailableError("blob {} cannot be read from {}: {}; it is fetched again",
                            digest.ToString(), cache_directory_, MessageOf(status));
  };
  const auto reader = store::NewBlobFileReader(cache_directory_, digest, 0);
  if (!reader.ok()) return unreadable(reader.status());
  while (true) {
    const absl::StatusOr<std::string_view> piece = (*reader)->Next(kPieceBytesMax);
    if (!piece.ok()) return unreadable(piece.status());
    if (piece->empty()) return absl::OkStatus();
    RETURN_IF_ERROR(take(*piece));
  }
}

}  // namespace galley::worker
