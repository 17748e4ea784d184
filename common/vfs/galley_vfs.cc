#include "common/vfs/galley_vfs.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/vfs/client.h"
#include "common/vfs/folder.h"
#include "common/vfs/session_tree.h"
#include "common/vfs/sockets.h"

namespace vfs = galley::vfs;

struct galley_vfs {
  std::unique_ptr<vfs::Client> client;  // nullptr: galley_vfs_create failed
  std::mutex mutex;
  std::string error;  // guarded by mutex
};

struct galley_vfs_file {
  std::shared_ptr<vfs::OpenFile> file;
  uint64_t size = 0;
  uint64_t position = 0;
  bool is_last_good = false;
  std::string digest;
};

namespace {

constexpr uint64_t kCacheBytes = uint64_t{4} << 30;
constexpr int kConnectMs = 2'000;
constexpr int kWaitMs = 300'000;

int Fail(galley_vfs* vfs, const vfs::Fault& fault) {
  const std::lock_guard lock(vfs->mutex);
  vfs->error = fault.text;
  return fault.code;
}

// Nothing may be thrown into a C program.
template <typename Act>
int Guard(galley_vfs* vfs, const Act& act) noexcept {
  try {
    return act();
  } catch (const std::bad_alloc&) {
    return GALLEY_VFS_MEMORY;
  } catch (const std::exception& fault) {
    try {
      return Fail(vfs, {GALLEY_VFS_INTERNAL, fault.what()});
    } catch (...) {
      return GALLEY_VFS_INTERNAL;
    }
  } catch (...) {
    return GALLEY_VFS_INTERNAL;
  }
}

// Copies a struct of a caller that may be older: what the caller does not know is zero.
template <typename Struct>
Struct CopyOf(const Struct* given) {
  Struct copy{};
  std::memcpy(&copy, given, std::min(given->struct_size, sizeof copy));
  copy.struct_size = sizeof copy;
  return copy;
}

vfs::Clock ClockOf(const galley_vfs_options& options) {
  if (options.clock == nullptr) {
    return [] {
      const auto now = std::chrono::steady_clock::now().time_since_epoch();
      return static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
    };
  }
  return [clock = options.clock, context = options.clock_context] { return clock(context); };
}

int64_t SecondsNow() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::string TextOr(const char* text, const char* other) { return text == nullptr ? other : text; }

std::string NotPlain(const std::string& path) {
  return "\"" + path +
         "\" is no path of a cooked tree: expected names joined by single '/', as in " +
         "\"Game/a.png.ktx2\", without \".\", \"..\" and '\\'";
}

// Says what is wrong with the options; empty: nothing.
std::string WrongIn(const galley_vfs_options& options) {
  const auto url = vfs::ParseUrl(TextOr(options.url, ""));
  if (!url) return "options.url: expected \"http://host:port\"";
  if (url->is_tls && options.net == nullptr)
    return "options.url: https needs options.net, of the adapter for TLS";
  if (!vfs::IsPlainSegment(TextOr(options.platform, "")))
    return "options.platform: expected the name of a platform of the project";
  const bool has_cultures = options.cultures != nullptr || options.culture_count == 0;
  if (!has_cultures) return "options.cultures: it is NULL, and culture_count is not 0";
  const galley_vfs_net net = options.net == nullptr ? vfs::PlainNet() : CopyOf(options.net);
  if (net.connect == nullptr || net.send == nullptr || net.receive == nullptr ||
      net.close == nullptr)
    return "options.net: expected four functions, and its struct_size";
  if (TextOr(options.cache_folder, "").empty())
    return "options.cache_folder: expected a folder for what was fetched";
  const std::string token = TextOr(options.token, "");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
  if (std::ranges::any_of(token, is_control)) return "options.token: it has spaces";
  return {};
}

std::vector<std::string> CulturesOf(const galley_vfs_options& options) {
  std::vector<std::string> cultures;
  for (size_t i = 0; i < options.culture_count; ++i)
    cultures.push_back(TextOr(options.cultures[i], ""));
  std::ranges::sort(cultures);
  cultures.erase(std::unique(cultures.begin(), cultures.end()), cultures.end());
  return cultures;
}

std::unique_ptr<vfs::Client> MakeClient(const galley_vfs_options& options) {
  std::string folder = options.cache_folder;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  std::function<void(int, const std::string&)> log;
  if (options.log != nullptr) {
    log = [log = options.log, context = options.log_context](int level, const std::string& text) {
      log(context, level, text.c_str());
    };
  }
  return std::make_unique<vfs::Client>(vfs::ClientOptions{
      .url = *vfs::ParseUrl(options.url),
      .net = options.net == nullptr ? vfs::PlainNet() : CopyOf(options.net),
      .token = TextOr(options.token, ""),
      .platform = options.platform,
      .cultures = CulturesOf(options),
      .takes_last_good = options.takes_last_good != 0,
      .cache_folder = std::move(folder),
      .cache_bytes_max = options.cache_bytes_max == 0 ? kCacheBytes : options.cache_bytes_max,
      .connect_ms = options.connect_ms <= 0 ? kConnectMs : options.connect_ms,
      .wait_ms = options.wait_ms <= 0 ? kWaitMs : options.wait_ms,
      .clock = ClockOf(options),
      .now_s = &SecondsNow,
      .log = std::move(log),
      .disk = vfs::SystemDisk()});
}

// REQUIRES: there is something.
galley_vfs_info InfoOf(const vfs::ShownPath& shown, size_t struct_size) {
  galley_vfs_info info{.struct_size = struct_size, .is_folder = 0, .is_cooked = 1, .size = -1};
  if (const auto* const file = std::get_if<vfs::FileAt>(&shown))
    info.size = static_cast<int64_t>(file->blob.size);
  if (std::holds_alternative<vfs::ShownFolder>(shown)) info.is_folder = 1;
  if (const auto* const uncooked = std::get_if<vfs::NotCookedAt>(&shown)) {
    info.is_folder = uncooked->is_folder ? 1 : 0;
    info.is_cooked = 0;
  }
  return info;
}

bool IsUsable(const galley_vfs* vfs) { return vfs != nullptr && vfs->client != nullptr; }

int64_t ReadAt(const galley_vfs_file& file, uint64_t offset, void* buffer, size_t size) noexcept
    try {
  if (offset >= file.size) return 0;
  const auto wanted = static_cast<size_t>(std::min<uint64_t>(size, file.size - offset));
  const vfs::Result<size_t> got = file.file->ReadAt(offset, buffer, wanted);
  if (!got.ok()) return got.fault().code;
  // Somebody has cut the file while it was open.
  if (*got < wanted) return GALLEY_VFS_DAMAGED;
  return static_cast<int64_t>(*got);
} catch (...) {
  return GALLEY_VFS_IO;  // there was no memory for the text of a fault
}

}  // namespace

int galley_vfs_create(const galley_vfs_options* options, galley_vfs** vfs) {
  if (vfs == nullptr) return GALLEY_VFS_INVALID;
  *vfs = nullptr;
  if (options == nullptr) return GALLEY_VFS_INVALID;
  auto made = std::unique_ptr<galley_vfs>(new (std::nothrow) galley_vfs);
  if (made == nullptr) return GALLEY_VFS_MEMORY;
  *vfs = made.release();
  const int result = Guard(*vfs, [&] {
    if (options->struct_size < offsetof(galley_vfs_options, cultures))
      return Fail(*vfs,
                  {GALLEY_VFS_INVALID, "options.struct_size: expected sizeof(galley_vfs_options)"});
    const galley_vfs_options copy = CopyOf(options);
    if (const std::string wrong = WrongIn(copy); !wrong.empty())
      return Fail(*vfs, {GALLEY_VFS_INVALID, wrong});
    auto client = MakeClient(copy);
    if (const vfs::Outcome failed = client->Begin()) return Fail(*vfs, *failed);
    (*vfs)->client = std::move(client);
    return static_cast<int>(GALLEY_VFS_OK);
  });
  if (result == GALLEY_VFS_MEMORY) {
    delete *vfs;
    *vfs = nullptr;
  }
  return result;
}

void galley_vfs_destroy(galley_vfs* vfs) { delete vfs; }

void galley_vfs_cancel(galley_vfs* vfs) {
  if (IsUsable(vfs)) vfs->client->Cancel();
}

void galley_vfs_resume(galley_vfs* vfs) {
  if (IsUsable(vfs)) vfs->client->Resume();
}

size_t galley_vfs_error(galley_vfs* vfs, char* text, size_t size) {
  if (vfs == nullptr) return 0;
  const std::lock_guard lock(vfs->mutex);
  if (text != nullptr && size > 0) {
    const size_t copied = std::min(size - 1, vfs->error.size());
    std::memcpy(text, vfs->error.data(), copied);
    text[copied] = '\0';
  }
  return vfs->error.size();
}

const char* galley_vfs_result_name(int result) {
  switch (result) {
    case GALLEY_VFS_OK:
      return "GALLEY_VFS_OK";
    case GALLEY_VFS_ABSENT:
      return "GALLEY_VFS_ABSENT";
    case GALLEY_VFS_FAILED:
      return "GALLEY_VFS_FAILED";
    case GALLEY_VFS_SUPERSEDED:
      return "GALLEY_VFS_SUPERSEDED";
    case GALLEY_VFS_OFFLINE:
      return "GALLEY_VFS_OFFLINE";
    case GALLEY_VFS_TIMED_OUT:
      return "GALLEY_VFS_TIMED_OUT";
    case GALLEY_VFS_REFUSED:
      return "GALLEY_VFS_REFUSED";
    case GALLEY_VFS_SERVER:
      return "GALLEY_VFS_SERVER";
    case GALLEY_VFS_DAMAGED:
      return "GALLEY_VFS_DAMAGED";
    case GALLEY_VFS_NO_SPACE:
      return "GALLEY_VFS_NO_SPACE";
    case GALLEY_VFS_IO:
      return "GALLEY_VFS_IO";
    case GALLEY_VFS_CANCELLED:
      return "GALLEY_VFS_CANCELLED";
    case GALLEY_VFS_INVALID:
      return "GALLEY_VFS_INVALID";
    case GALLEY_VFS_MEMORY:
      return "GALLEY_VFS_MEMORY";
    case GALLEY_VFS_INTERNAL:
      return "GALLEY_VFS_INTERNAL";
    default:
      return "no result of galley_vfs";
  }
}

int galley_vfs_open(galley_vfs* vfs, const char* path, galley_vfs_file** file) {
  if (file != nullptr) *file = nullptr;
  if (!IsUsable(vfs) || file == nullptr) return GALLEY_VFS_INVALID;
  return Guard(vfs, [&] {
    if (path == nullptr || !vfs::IsPlainPath(path))
      return Fail(vfs, {GALLEY_VFS_INVALID, NotPlain(TextOr(path, "NULL"))});
    vfs::Result<vfs::Client::Opened> opened = vfs->client->Open(path);
    if (!opened.ok()) return Fail(vfs, opened.fault());
    *file = new galley_vfs_file{.file = std::move(opened->file),
                                .size = opened->blob.size,
                                .is_last_good = opened->is_last_good,
                                .digest = opened->blob.ToText()};
    return static_cast<int>(GALLEY_VFS_OK);
  });
}

int64_t galley_vfs_read(galley_vfs_file* file, void* buffer, size_t size) {
  if (file == nullptr) return GALLEY_VFS_INVALID;
  const int64_t got = ReadAt(*file, file->position, buffer, size);
  if (got > 0) file->position += static_cast<uint64_t>(got);
  return got;
}

int64_t galley_vfs_read_at(galley_vfs_file* file, uint64_t offset, void* buffer, size_t size) {
  if (file == nullptr) return GALLEY_VFS_INVALID;
  return ReadAt(*file, offset, buffer, size);
}

int64_t galley_vfs_seek(galley_vfs_file* file, int64_t offset, int whence) {
  if (file == nullptr || whence < SEEK_SET || whence > SEEK_END) return GALLEY_VFS_INVALID;
  const uint64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file->position : file->size;
  int64_t position = 0;
  if (__builtin_add_overflow(static_cast<int64_t>(from), offset, &position) || position < 0)
    return GALLEY_VFS_INVALID;
  file->position = static_cast<uint64_t>(position);
  return position;
}

uint64_t galley_vfs_size(const galley_vfs_file* file) { return file == nullptr ? 0 : file->size; }

const char* galley_vfs_digest(const galley_vfs_file* file) {
  return file == nullptr ? "" : file->digest.c_str();
}

int galley_vfs_is_last_good(const galley_vfs_file* file) {
  return file != nullptr && file->is_last_good ? 1 : 0;
}

void galley_vfs_close(galley_vfs_file* file) { delete file; }

int galley_vfs_list(galley_vfs* vfs, const char* folder,
                    int (*visit)(void* context, const galley_vfs_entry* entry), void* context) {
  if (!IsUsable(vfs) || visit == nullptr) return GALLEY_VFS_INVALID;
  return Guard(vfs, [&] {
    const std::string path = TextOr(folder, "");
    if (!path.empty() && !vfs::IsPlainPath(path))
      return Fail(vfs, {GALLEY_VFS_INVALID, NotPlain(path)});
    const vfs::Result<std::vector<vfs::ShownEntry>> entries = vfs->client->List(path);
    if (!entries.ok()) return Fail(vfs, entries.fault());
    for (const vfs::ShownEntry& entry : *entries) {
      const galley_vfs_entry shown{
          .name = entry.name.c_str(), .is_folder = entry.is_folder ? 1 : 0, .size = entry.size};
      if (const int stop = visit(context, &shown); stop != 0) return stop;
    }
    return static_cast<int>(GALLEY_VFS_OK);
  });
}

int galley_vfs_look(galley_vfs* vfs, const char* path, galley_vfs_info* info) {
  if (!IsUsable(vfs) || info == nullptr) return GALLEY_VFS_INVALID;
  return Guard(vfs, [&] {
    const std::string of = TextOr(path, "");
    if (!of.empty() && !vfs::IsPlainPath(of))
      return Fail(vfs, {GALLEY_VFS_INVALID, of + " is no plain path"});
    const vfs::Result<vfs::ShownPath> shown = vfs->client->Look(of, /*is_from_cache=*/false);
    if (!shown.ok()) return Fail(vfs, shown.fault());
    if (std::holds_alternative<vfs::NothingAt>(*shown))
      return Fail(vfs, {GALLEY_VFS_ABSENT, of + ": there is no such path"});
    const galley_vfs_info told = InfoOf(*shown, info->struct_size);
    std::memcpy(info, &told, std::min(info->struct_size, sizeof told));
    return static_cast<int>(GALLEY_VFS_OK);
  });
}

int galley_vfs_prefetch(galley_vfs* vfs, const char* const* paths, size_t count,
                        void (*done)(void* context, const char* path, int result), void* context) {
  if (!IsUsable(vfs) || (paths == nullptr && count > 0)) return GALLEY_VFS_INVALID;
  int first_error = GALLEY_VFS_OK;
  for (size_t i = 0; i < count; ++i) {
    galley_vfs_file* file = nullptr;
    const int result = galley_vfs_open(vfs, paths[i], &file);
    galley_vfs_close(file);
    if (done != nullptr) done(context, paths[i], result);
    if (first_error == GALLEY_VFS_OK) first_error = result;
    if (result == GALLEY_VFS_CANCELLED) break;
  }
  return first_error;
}

int galley_vfs_advance(galley_vfs* vfs) {
  if (!IsUsable(vfs)) return GALLEY_VFS_INVALID;
  return Guard(vfs, [&] {
    const vfs::Result<bool> is_other = vfs->client->Advance();
    return is_other.ok() ? static_cast<int>(*is_other) : Fail(vfs, is_other.fault());
  });
}

int galley_vfs_watch(galley_vfs* vfs, int (*event)(void* context, const galley_vfs_change* change),
                     void* context) {
  if (!IsUsable(vfs) || event == nullptr) return GALLEY_VFS_INVALID;
  return Guard(vfs, [&] {
    const vfs::Result<int> ended = vfs->client->WatchChanges([&](const vfs::Change& change) {
      const galley_vfs_change told{
          .kind = change.kind, .path = change.path.c_str(), .text = change.text.c_str()};
      return event(context, &told);
    });
    return ended.ok() ? *ended : Fail(vfs, ended.fault());
  });
}

int galley_vfs_diff(galley_vfs* vfs, const char* older_root,
                    int (*event)(void* context, const galley_vfs_change* change), void* context) {
  if (!IsUsable(vfs) || event == nullptr) return GALLEY_VFS_INVALID;
  return Guard(vfs, [&] {
    const auto older = vfs::BlobId::Parse(TextOr(older_root, ""));
    if (!older)
      return Fail(vfs, {GALLEY_VFS_INVALID, "the older root: expected \"<64 hex>/<size>\""});
    const vfs::Result<int> ended = vfs->client->Compare(*older, [&](const vfs::Change& change) {
      const galley_vfs_change told{
          .kind = change.kind, .path = change.path.c_str(), .text = change.text.c_str()};
      return event(context, &told);
    });
    return ended.ok() ? *ended : Fail(vfs, ended.fault());
  });
}

int galley_vfs_get_status(galley_vfs* vfs, galley_vfs_status* status) {
  if (!IsUsable(vfs) || status == nullptr) return GALLEY_VFS_INVALID;
  return Guard(vfs, [&] {
    const vfs::Client::Status now = vfs->client->status();
    const vfs::View& view = now.session.view;
    galley_vfs_status told{};
    told.struct_size = status->struct_size;
    told.is_online = view.is_online() && !now.is_away;
    told.is_frozen = now.session.is_frozen;
    told.fetched_files = now.fetched_files;
    told.fetched_bytes = now.fetched_bytes;
    told.wrong_files = now.cache.damaged;
    told.cache_files = now.cache.blobs;
    told.cache_bytes = now.cache.bytes;
    told.evicted_files = now.cache.evicted;
    const vfs::BlobId& newest = now.session.newest();
    const std::string root = newest.size == 0 ? "" : newest.ToText();
    std::snprintf(told.root, sizeof told.root, "%s", root.c_str());
    std::memcpy(status, &told, std::min(status->struct_size, sizeof told));
    return static_cast<int>(GALLEY_VFS_OK);
  });
}
