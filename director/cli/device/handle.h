// Handle: a handle of the device library (common/vfs/galley_vfs.h), as any user of the library has
// one.
//
// Errors: CANCELLED: by Cancel. NOT_FOUND: there is no such path. INVALID_ARGUMENT: a wrong option
// or path. PERMISSION_DENIED: the director wants another token. ABORTED: the package cannot be
// cooked. OUT_OF_RANGE: the world is an older one now, and the file cannot be had any more.
// UNAVAILABLE: no director. DEADLINE_EXCEEDED: it took longer than `wait_s`. RESOURCE_EXHAUSTED: no
// space. Others: something is broken.
//
// Threads: any, but for the destructor.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/vfs/galley_vfs.h"

namespace galley::device {

struct HandleOptions {
  std::string url, platform, cache_folder;
  uint64_t cache_bytes_max = 0;  // 0: the library's
  std::vector<std::string> cultures;
  std::string token;  // empty: none
  int wait_s = 0;     // for one file; 0: the library's
  bool takes_last_good = false;
  galley_vfs_net net{};  // its context outlives the handle
  // Is told what the library does. Any thread; null: nobody is told.
  std::function<void(bool is_warning, const std::string& text)> log;
};

class Handle {
 public:
  // UNAVAILABLE and others: the cache folder cannot be used.
  static absl::StatusOr<std::unique_ptr<Handle>> Create(HandleOptions options);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // Ends all calls that block with CANCELLED, also later ones.
  void Cancel() { galley_vfs_cancel(vfs_); }

  // File: an open file. One thread at a time. Outlived by its handle.
  class File {
   public:
    uint64_t size() const { return galley_vfs_size(file_.get()); }
    std::string digest() const { return galley_vfs_digest(file_.get()); }
    bool is_last_good() const { return galley_vfs_is_last_good(file_.get()) != 0; }
    // Hands all bytes over, piece by piece, until `take` fails.
    absl::Status ReadAll(const std::function<absl::Status(std::string_view piece)>& take) const;

   private:
    friend class Handle;
    struct Closer {
      void operator()(galley_vfs_file* file) const { galley_vfs_close(file); }
    };
    std::unique_ptr<galley_vfs_file, Closer> file_;
  };
  absl::StatusOr<File> Open(const std::string& path);

  struct Entry {
    std::string name;
    bool is_folder = false;
    int64_t size = -1;  // -1: not known before it is opened
  };
  // `folder`: "" is the top.
  absl::StatusOr<std::vector<Entry>> List(const std::string& folder);

  // Goes to the newest world, or fails where there is no director. False: it is the one that was
  // seen, whose tree may have grown.
  absl::StatusOr<bool> Advance();
  // Tells changes until `tell` answers false, or Cancel.
  absl::Status Watch(const std::function<bool(const galley_vfs_change&)>& tell);
  // How the tree differs from that of an older root. Files in folders "_gen" are left out.
  struct Difference {
    std::set<std::string>
        changed;  // that are new, or may have other bytes, or folders of such files
    std::set<std::string> removed;
  };
  // OUT_OF_RANGE: the older root is gone.
  absl::StatusOr<Difference> Compare(const std::string& older_root);
  galley_vfs_status status() const;

 private:
  Handle() = default;
  absl::Status ErrorOf(int result, const std::string& path) const;

  std::function<void(bool, const std::string&)> log_;
  galley_vfs* vfs_ = nullptr;
};

}  // namespace galley::device
