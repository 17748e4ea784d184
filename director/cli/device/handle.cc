#include "director/cli/device/handle.h"

#include <array>
#include <string_view>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::device {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

absl::StatusCode CodeOfResult(int result) {
  switch (result) {
    case GALLEY_VFS_ABSENT:
      return absl::StatusCode::kNotFound;
    case GALLEY_VFS_FAILED:
      return absl::StatusCode::kAborted;
    case GALLEY_VFS_SUPERSEDED:
      return absl::StatusCode::kOutOfRange;
    case GALLEY_VFS_OFFLINE:
      return absl::StatusCode::kUnavailable;
    case GALLEY_VFS_TIMED_OUT:
      return absl::StatusCode::kDeadlineExceeded;
    case GALLEY_VFS_REFUSED:
      return absl::StatusCode::kPermissionDenied;
    case GALLEY_VFS_DAMAGED:
      return absl::StatusCode::kDataLoss;
    case GALLEY_VFS_NO_SPACE:
    case GALLEY_VFS_MEMORY:
      return absl::StatusCode::kResourceExhausted;
    case GALLEY_VFS_CANCELLED:
      return absl::StatusCode::kCancelled;
    case GALLEY_VFS_INVALID:
      return absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kInternal;
  }
}

const char* TextOfResult(int result) {
  switch (result) {
    case GALLEY_VFS_ABSENT:
      return "there is no such path";
    case GALLEY_VFS_FAILED:
      return "it cannot be cooked";
    case GALLEY_VFS_SUPERSEDED:
      return "the project has changed, and it cannot be had any more";
    case GALLEY_VFS_OFFLINE:
      return "it is not in the cache, and the director cannot be reached";
    case GALLEY_VFS_TIMED_OUT:
      return "the director did not answer in time";
    case GALLEY_VFS_REFUSED:
      return "the director wants another token";
    case GALLEY_VFS_DAMAGED:
      return "its bytes were wrong again and again";
    case GALLEY_VFS_NO_SPACE:
      return "there is no space for it in the cache";
    case GALLEY_VFS_CANCELLED:
      return "it was cancelled";
    default:
      return "it failed";
  }
}

// True: the error concerns one path, and its text begins with it.
bool IsOfPath(int result) {
  return result == GALLEY_VFS_ABSENT || result == GALLEY_VFS_FAILED ||
         result == GALLEY_VFS_SUPERSEDED || result == GALLEY_VFS_TIMED_OUT ||
         result == GALLEY_VFS_DAMAGED;
}

}  // namespace

absl::Status Handle::File::ReadAll(
    const std::function<absl::Status(std::string_view piece)>& take) const {
  std::string piece(kPieceBytes, '\0');
  uint64_t offset = 0;
  while (true) {
    const int64_t got = galley_vfs_read_at(file_.get(), offset, piece.data(), piece.size());
    if (got < 0) return absl::DataLossError("the cache's file was changed while it was read");
    if (got == 0) return absl::OkStatus();
    RETURN_IF_ERROR(take(std::string_view(piece).substr(0, static_cast<size_t>(got))));
    offset += static_cast<uint64_t>(got);
  }
}

absl::StatusOr<std::unique_ptr<Handle>> Handle::Create(HandleOptions options) {
  auto handle = std::unique_ptr<Handle>(new Handle);
  handle->log_ = std::move(options.log);
  galley_vfs_options given{};
  given.struct_size = sizeof given;
  given.url = options.url.c_str();
  given.platform = options.platform.c_str();
  given.cache_folder = options.cache_folder.c_str();
  std::vector<const char*> cultures;
  for (const std::string& culture : options.cultures) cultures.push_back(culture.c_str());
  given.cultures = cultures.data();
  given.culture_count = cultures.size();
  given.token = options.token.c_str();
  given.cache_bytes_max = options.cache_bytes_max;
  given.wait_ms = options.wait_s * 1'000;
  given.takes_last_good = options.takes_last_good ? 1 : 0;
  given.net = &options.net;
  given.log = [](void* self, int level, const char* text) {
    const auto& log = static_cast<const Handle*>(self)->log_;
    if (log) log(level == GALLEY_VFS_WARNING, text);
  };
  given.log_context = handle.get();
  const int result = galley_vfs_create(&given, &handle->vfs_);
  if (result != GALLEY_VFS_OK) return handle->ErrorOf(result, "");
  return handle;
}

Handle::~Handle() { galley_vfs_destroy(vfs_); }

// The library keeps the last error of all threads, so the text may be that of another path.
absl::Status Handle::ErrorOf(int result, const std::string& path) const {
  std::array<char, 4'096> buffer{};
  galley_vfs_error(vfs_, buffer.data(), buffer.size());
  std::string text = buffer.data();
  const bool is_of_other = IsOfPath(result) && !path.empty() && !text.starts_with(path + ": ");
  if (text.empty() || is_of_other) text = (path.empty() ? "" : path + ": ") + TextOfResult(result);
  return absl::Status(CodeOfResult(result), text);
}

absl::StatusOr<Handle::File> Handle::Open(const std::string& path) {
  galley_vfs_file* file = nullptr;
  const int result = galley_vfs_open(vfs_, path.c_str(), &file);
  if (result != GALLEY_VFS_OK) return ErrorOf(result, path);
  File opened;
  opened.file_.reset(file);
  return opened;
}

absl::StatusOr<std::vector<Handle::Entry>> Handle::List(const std::string& folder) {
  std::vector<Entry> entries;
  const int result = galley_vfs_list(
      vfs_, folder.c_str(),
      [](void* to, const galley_vfs_entry* entry) {
        static_cast<std::vector<Entry>*>(to)->push_back(
            {.name = entry->name, .is_folder = entry->is_folder != 0, .size = entry->size});
        return 0;
      },
      &entries);
  if (result != GALLEY_VFS_OK) return ErrorOf(result, folder);
  return entries;
}

absl::StatusOr<bool> Handle::Advance() {
  const int result = galley_vfs_advance(vfs_);
  if (result < 0) return ErrorOf(result, "");
  return result != 0;
}

absl::Status Handle::Watch(const std::function<bool(const galley_vfs_change&)>& tell) {
  const int result = galley_vfs_watch(
      vfs_,
      [](void* context, const galley_vfs_change* change) {
        const auto& to =
            *static_cast<const std::function<bool(const galley_vfs_change&)>*>(context);
        return to(*change) ? 0 : 1;
      },
      const_cast<void*>(static_cast<const void*>(&tell)));
  return result < 0 ? ErrorOf(result, "") : absl::OkStatus();
}

absl::StatusOr<Handle::Difference> Handle::Compare(const std::string& older_root) {
  Difference difference;
  const int result = galley_vfs_diff(
      vfs_, older_root.c_str(),
      [](void* to, const galley_vfs_change* change) {
        auto& into = *static_cast<Difference*>(to);
        (change->kind == GALLEY_VFS_REMOVED ? into.removed : into.changed).insert(change->path);
        return 0;
      },
      &difference);
  if (result < 0) return ErrorOf(result, "");
  return difference;
}

galley_vfs_status Handle::status() const {
  galley_vfs_status status{};
  status.struct_size = sizeof status;
  galley_vfs_get_status(vfs_, &status);
  return status;
}

}  // namespace galley::device
