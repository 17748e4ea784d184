// Damaged and hostile cache folders: the bytes become the files of one, in memory, and then a
// handle without a director opens, reads and lists. No crash, no hang, and no byte of a file that
// is not the one of its digest.
//
// The input is a list of files: one byte says which file of a good cache is meant, one byte how it
// is changed, two bytes (little endian) how many bytes follow, then the bytes.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/vfs/testing/client_on.h"
#include "common/vfs/testing/memory_disk.h"

namespace galley::vfs {
namespace {

const char* const kPaths[] = {"Game/a", "Game/b", "Game/none", "Game", "", "Game/a/b"};

// The folder of a handle that read all files, and of one whose download was cut.
const std::map<std::string, std::string>& GoodCache() {
  static const std::map<std::string, std::string> files = [] {
    FakeDirector director;
    MemoryDisk disk;
    std::atomic<uint64_t> now_ms = 1'000'000'000;
    director.SetFile("a", "texture", true);
    director.SetFile("b", "cooked when asked for");
    ClientOn client(director.Net(), disk, now_ms, {});
    GALLEY_CHECK(!client->Begin());
    int code = 0;
    for (const char* path : kPaths) client.Read(path, code);
    for (const char* path : kPaths) static_cast<void>(client->List(path));
    disk.SetFile("/c/part/" + ToHex(Sha256::Of("part")) + "-4", "pa");
    return disk.Files();
  }();
  return files;
}

// Changes one file of the cache; returns the bytes that are left.
std::string_view ChangeOne(std::string_view bytes, MemoryDisk& disk) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const auto file =
      std::next(GoodCache().begin(), static_cast<ptrdiff_t>(byte(0) % GoodCache().size()));
  const size_t size = std::min(bytes.size() - 4, static_cast<size_t>(byte(2) | byte(3) << 8));
  const std::string given(bytes.substr(4, size));
  std::string changed = file->second;
  const size_t at = changed.empty() ? 0 : given.size() % changed.size();
  switch (byte(1) % 7) {
    case 0:
      disk.SetFile(file->first, given);
      break;
    case 1:
      disk.SetFile(file->first, changed + given);
      break;
    case 2:
      disk.SetFile(file->first, changed.substr(0, at));
      break;
    case 3:
      for (size_t i = 0; i < given.size() && i < changed.size(); ++i) changed[i] ^= given[i];
      disk.SetFile(file->first, changed);
      break;
    case 4:
      disk.SetOther(file->first);
      break;
    case 5:
      disk.SetFolder(file->first);
      break;
    default:  // a folder that the root might name, with the right digest
      disk.SetFile("/c/blobs/" + ToHex(Sha256::Of(given)).substr(0, 2) + "/" +
                       ToHex(Sha256::Of(given)) + "-" + std::to_string(given.size()),
                   given);
      const std::string sealed = "galley-vfs-root 1\n" + BlobId::Of(given).ToText();
      for (const auto& [path, old] : GoodCache()) {
        if (path.starts_with("/c/roots/"))
          disk.SetFile(path, sealed + " " + ToHex(Sha256::Of(sealed)) + "\n");
      }
  }
  return bytes.substr(4 + size);
}

// An opened file has the bytes of its digest. Where the root is a good one, they are the right
// ones.
void CheckOpen(ClientOn& client, const std::string& path) {
  const Result<Client::Opened> opened = client->Open(path);
  if (!opened.ok()) {
    GALLEY_CHECK(!opened.fault().text.empty());
    return;
  }
  std::string bytes(static_cast<size_t>(opened->blob.size), '\0');
  const Result<size_t> got = opened->file->ReadAt(0, bytes.data(), bytes.size());
  GALLEY_CHECK(got.ok() && *got == bytes.size() && BlobId::Of(bytes) == opened->blob);
}

}  // namespace
}  // namespace galley::vfs

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::vfs;
  MemoryDisk disk;
  for (const auto& [path, bytes] : GoodCache()) disk.SetFile(path, bytes);
  std::string_view bytes(reinterpret_cast<const char*>(data), std::min<size_t>(size, 64 << 10));
  bool has_own_root = false;
  while (bytes.size() >= 4) {
    has_own_root |= static_cast<uint8_t>(bytes[1]) % 7 == 6;
    bytes = ChangeOne(bytes, disk);
  }
  FakeDirector director;
  director.SetFile("a", "texture", true);
  director.SetFile("b", "cooked when asked for");
  director.SetAway(true);
  std::atomic<uint64_t> now_ms = 2'000'000'000;
  ClientOn client(director.Net(), disk, now_ms, {});
  if (client->Begin()) return 0;  // it said what is wrong with the folder
  for (const char* path : kPaths) {
    CheckOpen(client, path);
    static_cast<void>(client->List(path));
  }
  int code = 0;
  if (!has_own_root) {
    const std::string a = client.Read("Game/a", code);
    GALLEY_CHECK(code != GALLEY_VFS_OK || a == "texture");
  }
  // With a director, the newest files are there, whatever the cache is like.
  director.SetAway(false);
  now_ms += 10'000;
  GALLEY_CHECK(client->Advance().ok());
  GALLEY_CHECK(client.Read("Game/a", code) == "texture");
  GALLEY_CHECK(client.Read("Game/b", code) == "cooked when asked for");
  return 0;
}
