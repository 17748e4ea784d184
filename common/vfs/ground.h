// Ground: what all parts of a handle stand on: its options, the way to the director, and whether it
// is cancelled.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/vfs/address_book.h"
#include "common/vfs/blob_id.h"
#include "common/vfs/disk.h"
#include "common/vfs/galley_vfs.h"
#include "common/vfs/http_client.h"
#include "common/vfs/reach.h"
#include "common/vfs/sockets.h"
#include "common/vfs/url.h"
#include "common/vfs/waiting.h"

namespace galley::vfs {

struct ClientOptions {
  Url url;
  galley_vfs_net net{};
  std::string token;
  std::string platform;
  std::vector<std::string> cultures;
  bool takes_last_good = false;
  std::optional<BlobId> root;  // the root that is seen first; nullopt: the newest one
  // The view moves on with each file that is cooked, so that Look and List show it. Costs the
  // folders of the tree that differ then, for each such file.
  bool follows_growth = false;
  std::string cache_folder;
  uint64_t cache_bytes_max = 0;
  size_t folders_bytes_max = 1 << 20;  // of folders of the tree that are kept in memory
  size_t told_paths_max = 20'000;      // ToldFiles; as many as a director tells of at once
  int connect_ms = 0;
  int wait_ms = 0;
  Clock clock;
  std::function<int64_t()> now_s;                               // seconds since 1970
  std::function<void(int level, const std::string& text)> log;  // null: nobody is told
  Disk& disk;
};

struct Ground {
  explicit Ground(ClientOptions of)
      : options(std::move(of)),
        http({.url = options.url,
              .net = WithAddresses(options.net),
              .token = options.token,
              .connect_ms = options.connect_ms}) {}

  Waiting BeginCall(const std::atomic<bool>* stop = nullptr) const {
    return Waiting(options.clock, is_cancelled, options.wait_ms, stop);
  }
  void Log(int level, const std::string& text) const {
    if (options.log) options.log(level, text);
  }
  // HttpClient::Do. Takes note of whether the director answers.
  Result<ResponseHead> Do(const Request& request, const Waiting& waiting,
                          const HttpClient::Take& take) {
    Result<ResponseHead> done = http.Do(request, waiting, take);
    if (!done.ok() && done.fault().is_away) NoteAway(done.fault());
    if (done.ok() && reach.NoteAnswer()) Log(GALLEY_VFS_INFO, "the director is reached again");
    return done;
  }
  void NoteAway(const Fault& why) {
    if (reach.NoteAway(options.clock()))
      Log(GALLEY_VFS_WARNING, "the cache alone is used for a while: " + why.text);
  }

  // Plain sockets look names up in the handle's own book.
  galley_vfs_net WithAddresses(galley_vfs_net net) {
    if (net.connect == PlainNet().connect && net.context == nullptr) net.context = &addresses;
    return net;
  }

  const ClientOptions options;
  AddressBook addresses;
  HttpClient http;
  Reach reach;
  std::atomic<bool> is_cancelled = false;
  std::atomic<uint64_t> fetched_files = 0;
};

}  // namespace galley::vfs
