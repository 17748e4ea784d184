// ClientOn: a Client of a FakeDirector on any Disk, with a clock that each look moves; several
// threads, which would move it too fast for each other, take the system's.
//
// Threads: any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "common/vfs/client.h"
#include "common/vfs/disk.h"
#include "common/vfs/testing/fake_director.h"
#include "common/vfs/url.h"

namespace galley::vfs {

class ClientOn {
 public:
  struct Options {
    std::string folder = "/c";
    uint64_t bytes_max = 1'000'000;
    std::string url = "http://fake:1";
    int wait_ms = 200'000;
    bool has_system_clock = false;
    bool follows_growth = false;
    size_t told_paths_max = 16'384;
  };
  ClientOn(galley_vfs_net net, Disk& disk, std::atomic<uint64_t>& now_ms, Options options)
      : client_({.url = *ParseUrl(options.url),
                 .net = net,
                 .token = "",
                 .platform = "linux",
                 .cultures = {},
                 .takes_last_good = false,
                 .follows_growth = options.follows_growth,
                 .cache_folder = options.folder,
                 .cache_bytes_max = options.bytes_max,
                 .told_paths_max = options.told_paths_max,
                 .connect_ms = 1'000,
                 .wait_ms = options.wait_ms,
                 .clock =
                     [&now_ms, is_system = options.has_system_clock] {
                       return is_system ? SystemMs() : now_ms += 50;
                     },
                 .now_s = [&now_ms] { return static_cast<int64_t>(now_ms / 1'000); },
                 .log = nullptr,
                 .disk = disk}) {}

  Client* operator->() { return &client_; }

  // The file's bytes, or the fault's text; `code` is what it came to.
  std::string Read(const std::string& path, int& code) {
    const Result<Client::Opened> opened = client_.Open(path);
    code = opened.ok() ? GALLEY_VFS_OK : opened.fault().code;
    if (!opened.ok()) return opened.fault().text;
    std::string bytes(static_cast<size_t>(opened->blob.size), '\0');
    const Result<size_t> got = opened->file->ReadAt(0, bytes.data(), bytes.size());
    code = got.ok() ? GALLEY_VFS_OK : got.fault().code;
    return got.ok() && *got == bytes.size() ? bytes : "the file is cut";
  }

 private:
  static uint64_t SystemMs() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  }

  Client client_;
};

}  // namespace galley::vfs
