// Lines of a list of SeenFiles, and the index of one list.
//
//   <16 hex> <text>\n     the beginning of the SHA-256 of the text
//
// Lines that are damaged or torn are passed over.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/vfs/blob_id.h"
#include "common/vfs/disk.h"

namespace galley::vfs {

// The line, with its end.
std::string SeenLine(std::string_view text);
// Calls `take` with each whole line behind the offset, its own offset, and its text; an empty text
// is a damaged one. Returns the offset behind the last whole line.
using TakeSeenLine =
    std::function<void(uint64_t offset, std::string_view line, std::string_view text)>;
uint64_t ForEachSeenLine(const OpenFile& list, uint64_t from, const TakeSeenLine& take);

// The text of a line that notes a file, and what it says.
std::string SeenText(const std::string& path, const BlobId& blob);
struct SeenFile {
  std::string_view path;
  BlobId blob;
};
std::optional<SeenFile> ParseSeenText(std::string_view text);

// SeenIndex: where the newest line of each path is in a list that others write, too.
//
// Memory: 16 bytes for each line. Threads: none.
class SeenIndex {
 public:
  // nullopt: no line notes the path. Cost: a few lines; what was written since the last call is
  // read, and all of it where the list was replaced.
  std::optional<BlobId> Find(const OpenFile& list, const std::string& path);

 private:
  struct Place {
    uint64_t key;  // of the path
    uint64_t offset;
    auto operator<=>(const Place&) const = default;
  };

  static uint64_t KeyOf(std::string_view path);
  bool IsOf(const OpenFile& list) const;
  void ReadOn(const OpenFile& list);

  std::vector<Place> places_;  // sorted
  uint64_t end_ = 0;           // what is behind it was not read yet
  std::string last_;           // the text of the last line that is known,
  uint64_t last_offset_ = 0;   // and where it is
};

}  // namespace galley::vfs
