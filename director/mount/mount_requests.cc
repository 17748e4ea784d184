#include "director/mount/mount_requests.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "common/vfs/folder.h"
#include "director/mount/mount_point.h"

namespace galley::mount {
namespace {

constexpr double kForEver = 1e9;  // s; the kernel is told when it ends
constexpr double kFolderS = 1;    // a folder that is gone is seen after so long
constexpr uint64_t kBlockBytes = 512;
constexpr std::string_view kMarkerText = "a tree of Galley that `galley mount` shows\n";

int64_t NowS() { return static_cast<int64_t>(std::time(nullptr)); }

std::string Join(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : folder + "/" + std::string(name);
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

struct stat AttributesOf(const MountNode& node) {
  struct stat attributes {};
  attributes.st_ino = node.id;
  attributes.st_uid = ::getuid();
  attributes.st_gid = ::getgid();
  attributes.st_nlink = node.is_folder ? 2 : 1;
  attributes.st_mtim.tv_sec = attributes.st_ctim.tv_sec = attributes.st_atim.tv_sec = node.made_s;
  const bool is_executable = node.is_folder || (node.content && node.content->is_executable);
  const mode_t access = is_executable ? 0555 : 0444;
  attributes.st_mode = (node.is_folder ? S_IFDIR : S_IFREG) | access;
  attributes.st_blksize = 1 << 20;
  if (node.is_folder || !node.content) return attributes;
  attributes.st_size = static_cast<off_t>(node.content->blob.size);
  attributes.st_blocks =
      static_cast<blkcnt_t>((node.content->blob.size + kBlockBytes - 1) / kBlockBytes);
  return attributes;
}

// The kernel keeps attributes that never change for the number.
double AttributesFor(const MountNode& node) {
  return node.is_folder || node.content ? kForEver : 0;
}

int ErrorOf(const vfs::Fault& fault) {
  switch (fault.code) {
    case GALLEY_VFS_ABSENT:
      return ENOENT;
    case GALLEY_VFS_INVALID:
      return EISDIR;
    case GALLEY_VFS_CANCELLED:
      return EINTR;
    case GALLEY_VFS_MEMORY:
      return ENOMEM;
    default:
      return EIO;
  }
}

using Listing = std::vector<vfs::ShownEntry>;

Listing* ListingOf(const fuse_file_info& info) {
  return reinterpret_cast<Listing*>(static_cast<uintptr_t>(info.fh));
}

MountRequests& Self(fuse_req_t req) { return *static_cast<MountRequests*>(fuse_req_userdata(req)); }

void SetUp(void*, fuse_conn_info* conn) {
  // Nothing is left to the defaults, which differ between versions of libfuse and of the kernel.
  constexpr unsigned kWanted = FUSE_CAP_ASYNC_READ | FUSE_CAP_PARALLEL_DIROPS |
                               FUSE_CAP_NO_OPEN_SUPPORT | FUSE_CAP_SPLICE_READ;
  conn->want = conn->capable & kWanted;
  conn->max_readahead = 1 << 20;
  conn->max_read = 1 << 20;
  // Reads that wait for a large file hold up no others.
  conn->max_background = WaitPool::kThreadsMax;
  conn->congestion_threshold = WaitPool::kThreadsMax * 3 / 4;
}

// "." and "..", then the folder's entries.
void ReadFolder(fuse_req_t req, fuse_ino_t id, size_t size, off_t offset, fuse_file_info* info) {
  const Listing& listing = *ListingOf(*info);
  std::string reply(size, '\0');
  size_t used = 0;
  for (auto at = static_cast<size_t>(offset); at < listing.size() + 2; ++at) {
    struct stat kind {};
    const bool is_dot = at < 2;
    kind.st_ino = is_dot ? id : 0xffffffff;
    kind.st_mode = is_dot || listing[at - 2].is_folder ? S_IFDIR : S_IFREG;
    const char* const name = is_dot ? (at == 0 ? "." : "..") : listing[at - 2].name.c_str();
    const size_t needed = fuse_add_direntry(req, reply.data() + used, size - used, name, &kind,
                                            static_cast<off_t>(at + 1));
    if (needed > size - used) break;
    used += needed;
  }
  fuse_reply_buf(req, reply.data(), used);
}

}  // namespace

// Request: one that may wait. It ends when the caller dies.
class MountRequests::Request : public std::enable_shared_from_this<Request> {
 public:
  Request(fuse_req_t req, InterruptedCallers& callers) : req_(req), callers_(callers) {}
  // Called once, when somebody holds the object.
  void Watch() {
    fuse_req_interrupt_func(
        req_, [](fuse_req_t, void* self) { static_cast<Request*>(self)->NoteInterrupt(); }, this);
  }
  const std::atomic<bool>& stop() const { return stop_; }
  // For the reply. No interrupt comes any more.
  fuse_req_t Settle() {
    fuse_req_interrupt_func(req_, nullptr, nullptr);
    is_settled_ = true;
    return req_;
  }

 private:
  void NoteInterrupt() {
    const std::weak_ptr<Request> self = weak_from_this();
    callers_.Add({.thread = fuse_req_ctx(req_)->pid,
                  .is_over =
                      [self] {
                        const auto request = self.lock();
                        return request == nullptr || request->is_settled_;
                      },
                  .end =
                      [self] {
                        if (const auto request = self.lock()) request->stop_ = true;
                      }});
  }

  const fuse_req_t req_;
  InterruptedCallers& callers_;
  std::atomic<bool> stop_ = false, is_settled_ = false;
};

class MountRequests::LookUpNote {
 public:
  LookUpNote(MountRequests& requests, uint64_t parent) : requests_(requests), parent_(parent) {
    const std::lock_guard lock(requests_.mutex_);
    ++requests_.looking_up_[parent_];
  }
  ~LookUpNote() {
    const std::lock_guard lock(requests_.mutex_);
    if (--requests_.looking_up_[parent_] == 0) requests_.looking_up_.erase(parent_);
  }
  LookUpNote(const LookUpNote&) = delete;
  LookUpNote& operator=(const LookUpNote&) = delete;

 private:
  MountRequests& requests_;
  const uint64_t parent_;
};

MountRequests::MountRequests(MountSource& source, MountLog& log)
    : source_(source), log_(log), nodes_(NowS()) {}

void MountRequests::Stop() {
  pool_.Stop();
  callers_.Stop();
}

fuse_lowlevel_ops MountRequests::Operations() {
  fuse_lowlevel_ops ops{};
  ops.init = &SetUp;
  ops.lookup = [](fuse_req_t req, fuse_ino_t parent, const char* name) {
    Self(req).LookUp(req, parent, name);
  };
  ops.forget = [](fuse_req_t req, fuse_ino_t id, uint64_t count) {
    Self(req).nodes_.Forget(id, count);
    if (!Self(req).nodes_.Find(id)) Self(req).files_.Erase(id);
    fuse_reply_none(req);
  };
  ops.forget_multi = [](fuse_req_t req, size_t count, fuse_forget_data* forgets) {
    for (size_t i = 0; i < count; ++i) {
      Self(req).nodes_.Forget(forgets[i].ino, forgets[i].nlookup);
      if (!Self(req).nodes_.Find(forgets[i].ino)) Self(req).files_.Erase(forgets[i].ino);
    }
    fuse_reply_none(req);
  };
  ops.getattr = [](fuse_req_t req, fuse_ino_t id, fuse_file_info*) {
    Self(req).GetAttributes(req, id);
  };
  ops.open = [](fuse_req_t req, fuse_ino_t, fuse_file_info*) { fuse_reply_err(req, ENOSYS); };
  ops.read = [](fuse_req_t req, fuse_ino_t id, size_t size, off_t offset, fuse_file_info*) {
    Self(req).Read(req, id, size, static_cast<uint64_t>(offset));
  };
  ops.opendir = [](fuse_req_t req, fuse_ino_t id, fuse_file_info* info) {
    Self(req).OpenFolder(req, id, *info);
  };
  ops.readdir = &ReadFolder;
  ops.releasedir = [](fuse_req_t req, fuse_ino_t, fuse_file_info* info) {
    delete ListingOf(*info);
    fuse_reply_err(req, 0);
  };
  return ops;
}

void MountRequests::Wait(fuse_req_t req, std::function<void(Request& request)> act) {
  auto request = std::make_shared<Request>(req, callers_);
  request->Watch();
  pool_.Run([request = std::move(request), act = std::move(act)] { act(*request); });
}

// ------------------------------------------------------------------ names

void MountRequests::LookUp(fuse_req_t req, uint64_t parent, const std::string& name) {
  const std::optional<MountNode> folder = nodes_.Find(parent);
  if (!folder || !vfs::IsPlainSegment(name)) {
    fuse_reply_err(req, ENOENT);
    return;
  }
  const std::string path = Join(folder->path, name);
  if (path == kMarkerFile)
    return ReplyEntry(req, path, vfs::FileAt{vfs::BlobId::Of(kMarkerText), false});
  // From before the look until the kernel has the answer, so that Renew misses none between.
  auto note = std::make_shared<LookUpNote>(*this, parent);
  const vfs::Result<vfs::ShownPath> here = source_.LookHere(path);
  if (here.ok() && !NeedsCook(folder->path, *here)) return ReplyEntry(req, path, *here);
  if (!here.ok() && here.fault().code != vfs::kNotCached)
    return ReplyFault(req, path, here.fault());
  Wait(req, [this, note, path, above = folder->path](Request& request) {
    const vfs::Result<vfs::ShownPath> found = LookSlowly(above, path, request.stop());
    if (found.ok()) {
      ReplyEntry(request.Settle(), path, *found);
    } else {
      ReplyFault(request.Settle(), path, found.fault());
    }
  });
}

// A name in a folder that is not cooked itself, or in a generated package that is not, is known to
// a cook alone.
bool MountRequests::NeedsCook(const std::string& parent, const vfs::ShownPath& shown) {
  const auto* const not_cooked = std::get_if<vfs::NotCookedAt>(&shown);
  if (not_cooked == nullptr) return false;
  if (!not_cooked->ask.empty()) return true;
  const vfs::Result<vfs::ShownPath> above = source_.LookHere(parent);
  return !above.ok() || !std::holds_alternative<vfs::ShownFolder>(*above);
}

vfs::Result<vfs::ShownPath> MountRequests::LookSlowly(const std::string& parent,
                                                      const std::string& path,
                                                      const std::atomic<bool>& stop) {
  vfs::Result<vfs::ShownPath> found = source_.Look(path, stop);
  if (!found.ok() || !std::holds_alternative<vfs::NotCookedAt>(*found)) return found;
  const vfs::Result<vfs::ShownPath> above = source_.Look(parent, stop);
  if (!above.ok()) return above.fault();
  if (std::holds_alternative<vfs::NotCookedAt>(*above)) {
    const auto listed = source_.List(parent, stop);
    if (!listed.ok()) return listed.fault();
    found = source_.Look(path, stop);
    if (!found.ok()) return found;
  }
  const auto* const not_cooked = std::get_if<vfs::NotCookedAt>(&*found);
  if (not_cooked == nullptr || not_cooked->ask.empty()) return found;
  if (const vfs::Outcome failed = source_.Cook(not_cooked->ask, stop)) return *failed;
  return source_.Look(path, stop);
}

void MountRequests::ReplyEntry(fuse_req_t req, const std::string& path,
                               const vfs::ShownPath& shown) {
  if (std::holds_alternative<vfs::NothingAt>(shown)) {
    fuse_reply_err(req, ENOENT);
    return;
  }
  const auto* const not_cooked = std::get_if<vfs::NotCookedAt>(&shown);
  const auto* const file = std::get_if<vfs::FileAt>(&shown);
  const bool is_folder = file == nullptr && (not_cooked == nullptr || not_cooked->is_folder);
  const MountNode node =
      nodes_.Learn(path, is_folder, file == nullptr ? std::nullopt : std::optional(*file), NowS());
  fuse_entry_param entry{};
  entry.ino = node.id;
  entry.attr = AttributesOf(node);
  entry.attr_timeout = AttributesFor(node);
  entry.entry_timeout = is_folder ? kFolderS : kForEver;
  // The kernel does not know the node if the caller is gone.
  if (fuse_reply_entry(req, &entry) != 0) nodes_.Forget(node.id, 1);
}

void MountRequests::ReplyFault(fuse_req_t req, const std::string& path, const vfs::Fault& fault) {
  const int error = ErrorOf(fault);
  if (error == EIO) log_.NoteFailed(path, fault);
  fuse_reply_err(req, error);
}

// ------------------------------------------------------------------ sizes and bytes

void MountRequests::GetAttributes(fuse_req_t req, uint64_t id) {
  const std::optional<MountNode> node = nodes_.Find(id);
  if (!node) {
    fuse_reply_err(req, ENOENT);
    return;
  }
  const auto reply = [](fuse_req_t to, const MountNode& of) {
    const struct stat attributes = AttributesOf(of);
    fuse_reply_attr(to, &attributes, AttributesFor(of));
  };
  if (node->is_folder || node->content) return reply(req, *node);
  Wait(req, [this, node = *node, reply](Request& request) mutable {
    const auto file = OpenNode(node, request.stop());
    if (!file.ok()) return ReplyFault(request.Settle(), node.path, file.fault());
    const std::optional<MountNode> cooked = nodes_.Find(node.id);
    reply(request.Settle(), cooked ? *cooked : node);
  });
}

// The file of the node, which is cooked if need be.
vfs::Result<std::shared_ptr<vfs::OpenFile>> MountRequests::OpenNode(const MountNode& node,
                                                                    const std::atomic<bool>& stop) {
  std::optional<vfs::FileAt> content = node.content;
  if (!content) {
    vfs::Result<OpenedFile> opened = source_.Open(node.path, stop);
    if (!opened.ok()) return opened.fault();
    content =
        nodes_.Cooked(node.id, {.blob = opened->blob, .is_executable = opened->is_executable});
    if (!content || content->blob == opened->blob) {
      files_.Put(node.id, opened->file);
      return opened->file;
    }
  }
  vfs::Result<std::shared_ptr<vfs::OpenFile>> file = source_.OpenBlob(content->blob, stop);
  if (!file.ok() && file.fault().code == GALLEY_VFS_SERVER) {
    // The store may have lost it, and makes it again for whoever asks for the path.
    vfs::Result<OpenedFile> again = source_.Open(node.path, stop);
    if (again.ok() && again->blob == content->blob) file = std::move(again->file);
  }
  if (file.ok()) files_.Put(node.id, *file);
  return file;
}

void MountRequests::Read(fuse_req_t req, uint64_t id, size_t size, uint64_t offset) {
  if (const std::shared_ptr<vfs::OpenFile> file = files_.Find(id))
    return ReplyBytes(req, *file, size, offset);
  const std::optional<MountNode> node = nodes_.Find(id);
  if (!node || node->is_folder) {
    fuse_reply_err(req, node ? EISDIR : ESTALE);
    return;
  }
  if (node->path == kMarkerFile) {
    const std::string_view rest = kMarkerText.substr(std::min<size_t>(offset, kMarkerText.size()));
    fuse_reply_buf(req, rest.data(), std::min(size, rest.size()));
    return;
  }
  Wait(req, [this, node = *node, size, offset](Request& request) {
    const auto file = OpenNode(node, request.stop());
    if (!file.ok()) return ReplyFault(request.Settle(), node.path, file.fault());
    ReplyBytes(request.Settle(), **file, size, offset);
  });
}

void MountRequests::ReplyBytes(fuse_req_t req, const vfs::OpenFile& file, size_t size,
                               uint64_t offset) {
  thread_local std::vector<char> buffer;
  if (buffer.size() < size) buffer.resize(size);
  const vfs::Result<size_t> got = file.ReadAt(offset, buffer.data(), size);
  if (got.ok()) {
    fuse_reply_buf(req, buffer.data(), *got);
  } else {
    fuse_reply_err(req, EIO);
  }
}

// ------------------------------------------------------------------ folders

void MountRequests::OpenFolder(fuse_req_t req, uint64_t id, const fuse_file_info& info) {
  const std::optional<MountNode> node = nodes_.Find(id);
  if (!node || !node->is_folder) {
    fuse_reply_err(req, node ? ENOTDIR : ESTALE);
    return;
  }
  Wait(req, [this, path = node->path, opened = info](Request& request) mutable {
    vfs::Result<Listing> listed = source_.List(path, request.stop());
    if (!listed.ok()) return ReplyFault(request.Settle(), path, listed.fault());
    auto listing = std::make_unique<Listing>(*std::move(listed));
    opened.fh = reinterpret_cast<uintptr_t>(listing.get());
    if (fuse_reply_open(request.Settle(), &opened) == 0) static_cast<void>(listing.release());
  });
}

// ------------------------------------------------------------------ changes

std::vector<std::string> MountRequests::Renew(fuse_session* session, std::vector<std::string> paths,
                                              const std::atomic<bool>& stop) {
  std::vector<std::string> later;
  for (std::string& path : paths) {
    if (stop) return {};
    const std::string folder = ParentOf(path);
    const std::optional<uint64_t> parent = nodes_.IdOf(folder);
    if (!parent) continue;
    {
      // The look-up holds the lock of the folder, which the kernel needs to forget a name.
      const std::lock_guard lock(mutex_);
      if (looking_up_.contains(*parent)) {
        later.push_back(std::move(path));
        continue;
      }
    }
    if (!nodes_.KnowsFile(path)) continue;
    const std::string name = path.substr(folder.empty() ? 0 : folder.size() + 1);
    fuse_lowlevel_notify_inval_entry(session, *parent, name.data(), name.size());
  }
  return later;
}

std::vector<std::string> MountRequests::Outdated(bool is_all, const std::atomic<bool>& stop) {
  std::vector<std::string> outdated;
  for (const MountNode& node : nodes_.Files()) {
    if (stop) return {};
    const bool is_generated = node.path.find("/_gen/") != std::string::npos;
    if (node.path == kMarkerFile || !(is_all || is_generated)) continue;
    const vfs::Result<vfs::ShownPath> shown = source_.Look(node.path, stop);
    const auto* const file = shown.ok() ? std::get_if<vfs::FileAt>(&*shown) : nullptr;
    const bool is_same = file != nullptr && node.content && file->blob == node.content->blob;
    if (!is_same) outdated.push_back(node.path);
  }
  return outdated;
}

}  // namespace galley::mount
