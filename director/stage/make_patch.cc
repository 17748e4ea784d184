#include "director/stage/make_patch.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/chunker.h"
#include "common/base/errors.h"
#include "common/base/named_file.h"
#include "common/base/status_macros.h"
#include "common/tree/tree.h"
#include "director/stage/apply_names.h"
#include "director/stage/patch_writer.h"
#include "director/stage/plan.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using tree::Difference;
using Kind = Difference::Kind;

constexpr Chunker::Options kChunks{.average_bytes = 16 << 10};
// Places that are kept of one chunk: a run of zeros would have thousands.
constexpr size_t kPlacesMax = 8;

// Place: where a chunk lies, as in PatchPiece.
struct Place {
  uint64_t source = 0;
  uint64_t offset = 0;
};

class Maker {
 public:
  Maker(store::BlobStore& store, PatchWriter& writer, PatchReport& report,
        const std::atomic<bool>* interrupted)
      : store_(store),
        writer_(writer),
        report_(report),
        interrupted_(interrupted),
        chunker_(kChunks) {}

  absl::StatusOr<PatchIndex> Make(const Digest& from, const Digest& to) {
    index_.from = from;
    index_.to = to;
    const tree::ReadBlob read = [&](const Digest& digest) { return store_.Get(digest); };
    ASSIGN_OR_RETURN(std::vector<Difference> differences, tree::DiffTrees(from, to, read));
    index_.differences = tree::FindRenames(std::move(differences));
    ASSIGN_OR_RETURN(const std::vector<tree::TreeFile> old_files, tree::ListTree(from, read));
    for (const tree::TreeFile& file : old_files) old_path_.emplace(file.digest, file.path);
    RETURN_IF_ERROR(CheckNames());
    RETURN_IF_ERROR(NoteOldChunks());
    for (const Difference& one : index_.differences) {
      if (one.kind != Kind::kRemoved) RETURN_IF_ERROR(AddRecipe(one));
    }
    for (auto& [digest, recipe] : recipes_) index_.recipes.push_back({digest, std::move(recipe)});
    report_.files = index_.differences.size();
    report_.bytes_literal = writer_.literal_bytes();
    return std::move(index_);
  }

 private:
  using Pieces = std::vector<PatchPiece>;

  absl::Status CheckNames() const {
    for (const Difference& one : index_.differences) {
      if (IsOwnPath(one.path())) {
        return InvalidArgumentError("the tree holds {}, a name of Galley's own", one.path());
      }
    }
    return absl::OkStatus();
  }

  bool IsOld(const Digest& digest) const { return old_path_.contains(digest); }

  // Returns the number of the source that has these bytes (1 and up).
  uint64_t SourceOf(const Digest& digest) {
    const auto [at, is_new] = sources_.emplace(digest, index_.sources.size() + 1);
    if (is_new) index_.sources.push_back({old_path_.at(digest), digest});
    return at->second;
  }

  // Notes chunks only if some new content can use them.
  absl::Status NoteOldChunks() {
    const bool is_needed = std::ranges::any_of(index_.differences, [&](const Difference& one) {
      return one.kind != Kind::kRemoved && !IsOld(one.after.digest);
    });
    if (!is_needed) return absl::OkStatus();
    std::map<Digest, bool> done;
    for (const Difference& one : index_.differences) {
      if (one.kind == Kind::kAdded || !done.emplace(one.before.digest, true).second) continue;
      ASSIGN_OR_RETURN(const Blob blob, Read(one.before));
      RETURN_IF_ERROR(ForEachChunk(*blob, [&](std::string_view chunk, uint64_t offset) {
        std::vector<OldPlace>& places = old_chunks_[Digest::Of(chunk)];
        if (places.size() < kPlacesMax) places.push_back({one.before.digest, offset});
        return CheckInterrupted(interrupted_);
      }));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Blob> Read(const tree::TreeFile& file) {
    RETURN_IF_ERROR(CheckInterrupted(interrupted_));
    absl::StatusOr<Blob> blob = store_.Get(file.digest);
    if (!blob.ok()) return Annotate(blob.status(), fmt::format("reading {}", file.path));
    return blob;
  }

  template <typename Take>
  absl::Status ForEachChunk(std::string_view bytes, const Take& take) const {
    for (size_t at = 0; at < bytes.size();) {
      const size_t size = chunker_.Cut(bytes.substr(at));
      RETURN_IF_ERROR(take(bytes.substr(at, size), at));
      at += size;
    }
    return absl::OkStatus();
  }

  absl::Status AddRecipe(const Difference& difference) {
    const Digest& digest = difference.after.digest;
    if (recipes_.contains(digest)) return absl::OkStatus();
    Pieces pieces;
    if (digest.size_bytes() > 0 && IsOld(digest)) {
      pieces.push_back({SourceOf(digest), 0, digest.size_bytes()});
    } else if (digest.size_bytes() > 0) {
      report_.bytes_new += digest.size_bytes();
      ASSIGN_OR_RETURN(const Blob blob, Read(difference.after));
      RETURN_IF_ERROR(ForEachChunk(*blob, [&](std::string_view chunk, uint64_t) {
        return AddChunk(chunk, difference, pieces);
      }));
    }
    recipes_.emplace(digest, std::move(pieces));
    return absl::OkStatus();
  }

  absl::Status AddChunk(std::string_view chunk, const Difference& difference, Pieces& pieces) {
    RETURN_IF_ERROR(CheckInterrupted(interrupted_));
    const Digest digest = Digest::Of(chunk);
    Place place;
    if (const auto old = old_chunks_.find(digest); old != old_chunks_.end()) {
      place = BestOf(old->second, difference, pieces);
    } else {
      const auto [literal, is_new] = literal_chunks_.emplace(digest, writer_.literal_bytes());
      if (is_new) RETURN_IF_ERROR(writer_.AddLiteral(chunk));
      place = {0, literal->second};
    }
    if (!pieces.empty() && GoesOn(pieces.back(), place)) {
      pieces.back().size_bytes += chunk.size();
    } else {
      pieces.push_back({place.source, place.offset, chunk.size()});
    }
    return absl::OkStatus();
  }

  static bool GoesOn(const PatchPiece& last, const Place& place) {
    return last.source == place.source && last.offset + last.size_bytes == place.offset;
  }

  struct OldPlace {
    Digest digest;
    uint64_t offset = 0;
  };

  // Returns the place where the last piece goes on; else a place in the file that this file
  // replaces; else the first place.
  Place BestOf(const std::vector<OldPlace>& places, const Difference& difference,
               const Pieces& pieces) {
    const OldPlace* best = &places.front();
    for (const OldPlace& place : places) {
      const auto source = sources_.find(place.digest);
      if (!pieces.empty() && source != sources_.end() &&
          GoesOn(pieces.back(), {source->second, place.offset})) {
        best = &place;
        break;
      }
      if (difference.kind == Kind::kChanged && place.digest == difference.before.digest &&
          best->digest != place.digest)
        best = &place;
    }
    return {SourceOf(best->digest), best->offset};
  }

  store::BlobStore& store_;
  PatchWriter& writer_;
  PatchReport& report_;
  const std::atomic<bool>* const interrupted_;
  const Chunker chunker_;
  PatchIndex index_;
  std::unordered_map<Digest, std::string, DigestHash> old_path_;  // the first by path
  std::unordered_map<Digest, std::vector<OldPlace>, DigestHash> old_chunks_;
  std::unordered_map<Digest, uint64_t, DigestHash> literal_chunks_;  // digest -> start
  std::unordered_map<Digest, uint64_t, DigestHash> sources_;
  std::map<Digest, Pieces> recipes_;
};

absl::Status WriteTo(store::BlobStore& store, const Digest& from, const Digest& to, int file,
                     const std::string& path, const std::atomic<bool>* interrupted,
                     PatchReport& report) {
  PatchWriter writer(file, path);
  ASSIGN_OR_RETURN(PatchIndex index, Maker(store, writer, report, interrupted).Make(from, to));
  RETURN_IF_ERROR(writer.Finish(std::move(index)));
  RETURN_IF_ERROR(CheckInterrupted(interrupted));
  report.bytes_written = writer.bytes_written();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PatchReport> MakePatch(store::BlobStore& store, const Digest& from, const Digest& to,
                                      const std::string& file,
                                      const std::atomic<bool>* interrupted) {
  absl::StatusOr<NamedFile> named = NamedFile::Open(file);
  if (absl::IsNotFound(named.status()) || absl::IsPermissionDenied(named.status())) {
    return FailedPreconditionError(
        "{}: {}; name a file in a folder that is there and can be written to", file,
        MessageOf(named.status()));
  }
  RETURN_IF_ERROR(named.status());
  PatchReport report;
  absl::Status status = WriteTo(store, from, to, named->descriptor(), file, interrupted, report);
  if (status.ok()) status = named->Complete(/*sync=*/true);
  if (absl::IsCancelled(status)) return CancelledError("interrupted: {} was not written", file);
  RETURN_IF_ERROR(status);
  return report;
}

}  // namespace galley::director
