#include "common/store/local/maintenance/dead_bytes.h"

#include <charconv>

#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "common/store/local/maintenance/compactor.h"
#include "common/store/local/maintenance/store_stats.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

// Less is not worth a look: a new segment's begin and a few roots come to some of it in each store.
// To read the index of a small store and to write its live bytes again takes milliseconds.
constexpr uint64_t kDeadBytesMin = 64 << 10;
constexpr uint64_t kChangedShare = 20;
constexpr uint64_t kNoteBytesMax = 100;
constexpr std::string_view kNoteVersion = "galley-compacted 1\n";

struct Note {
  uint64_t segment_bytes = 0, blob_bytes = 0;
};

std::string NotePath(const std::string& directory) { return JoinPath(directory, "compacted"); }

std::string EncodeNote(const Note& note) {
  const std::string text =
      fmt::format("{}{} {}\n", kNoteVersion, note.segment_bytes, note.blob_bytes);
  return text + fmt::format("end {:016x}\n", Checksum(text));
}

// A note that cannot be read counts as absent, and so does an older program's without a checksum:
// then there is one look more.
std::optional<Note> ReadNote(const std::string& directory) {
  const absl::StatusOr<std::string> text = ReadOwnFile(NotePath(directory), kNoteBytesMax);
  if (!text.ok() || !text->starts_with(kNoteVersion)) return std::nullopt;
  Note note;
  const char* const end = text->data() + text->size();
  const auto first = std::from_chars(text->data() + kNoteVersion.size(), end, note.segment_bytes);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ' ') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, note.blob_bytes);
  if (second.ec != std::errc() || *text != EncodeNote(note)) return std::nullopt;
  return note;
}

// The most that may have died since the note was written.
uint64_t Changed(const Note& then, const Note& now) {
  const uint64_t grown = now.segment_bytes > then.segment_bytes
                             ? now.segment_bytes - then.segment_bytes
                             : then.segment_bytes - now.segment_bytes;
  return grown + (now.blob_bytes < then.blob_bytes ? then.blob_bytes - now.blob_bytes : 0);
}

Note NoteOf(const StoreStats& stats) {
  return {.segment_bytes = stats.segment_bytes, .blob_bytes = stats.blob_bytes};
}

// By the blobs alone: what results and observation sets take is not known.
bool MayHaveTooMuchDead(const StoreStats& stats) {
  const uint64_t small_blobs =
      stats.blob_bytes - stats.file_bytes + kRecordHeaderBytes * (stats.blobs - stats.files);
  if (stats.segment_bytes <= small_blobs + kDeadBytesMin) return false;
  return kDeadShare * (stats.segment_bytes - small_blobs) > stats.blob_bytes;
}

}  // namespace

absl::StatusOr<GcReport> GiveBackDeadBytes(StoreParts& store, Cancellation* cancellation) {
  const std::string& directory = store.folder.directory;
  ASSIGN_OR_RETURN(const StoreStats before, SizesOf(store));
  if (!MayHaveTooMuchDead(before)) return GcReport{};
  const std::optional<Note> note = ReadNote(directory);
  // The share is that of the bytes on the disk: a store may hold results and next to no blobs.
  if (note.has_value() &&
      kChangedShare * Changed(*note, NoteOf(before)) < before.segment_bytes + before.file_bytes)
    return GcReport{};
  ASSIGN_OR_RETURN(const Holders holders, FindHolders(store));
  // Bytes that were moved now would go only when the sessions have ended.
  if (!holders.names.empty()) return GcReport{.held_by = holders.names};
  const GcOptions options{.cancellation = cancellation};
  ASSIGN_OR_RETURN(const Coverage coverage, store.index.Cover());
  Compactor compactor(store, options, coverage, /*is_after_cook=*/true);
  RETURN_IF_ERROR(compactor.Plan({}));
  const uint64_t planned_bytes = compactor.freed_bytes();
  bool is_done = !compactor.has_chosen();
  if (!is_done) {
    // Until this run has done all of it, the sizes of an earlier one say nothing.
    RETURN_IF_ERROR(RemoveAll(NotePath(directory)));
    RETURN_IF_ERROR(compactor.MakeRoom());
    const absl::Status run = compactor.Run();
    // If another index was made meanwhile, the next cook goes on.
    const bool is_cut_off = !store.index.StillCovers(coverage).ok();
    if (!is_cut_off) RETURN_IF_ERROR(run);
    is_done =
        !is_cut_off && compactor.freed_bytes() >= planned_bytes && !compactor.HasTooMuchDead();
  }
  if (is_done) {
    ASSIGN_OR_RETURN(const StoreStats after, SizesOf(store));
    RETURN_IF_ERROR(WriteFileAtomic(NotePath(directory), EncodeNote(NoteOf(after))));
  }
  return GcReport{.blobs = before.blobs,
                  .bytes = before.blob_bytes,
                  .results = before.results,
                  .freed_bytes = compactor.freed_bytes(),
                  .moved_bytes = compactor.moved_bytes()};
}

}  // namespace galley::store
