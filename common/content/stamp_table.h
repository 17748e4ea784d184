// StampTable: the stamps of folders and files from a time when their contents were known. The table
// proves later, with one stat for each, that the contents are the same, without a walk of the
// folders. The table's file is mapped, and read in place.
//
// A folder is unchanged if its stamp (device, inode, mode, times) is the same, or else if it lists
// the same names. A file is unchanged if its stamp and size are the same, or else if its bytes have
// the known digest. A racy folder (common/base/racy.h) is always listed, a racy file always hashed.
// A link is unchanged if its own stamp and its target's are the same.
//
// Changes since the table was written lie in a patch beside it (patched_file.h). If a damaged part
// is read, a check does not hold, and other functions return an error.
//
// Format (docs/formats.md, "Stamps"): little-endian, records of fixed size.
//
// Threads: a StampTable from any; StampTableBuilder from one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/base/file.h"

namespace galley::content {

// NamesHash: a hash of all names in a folder, in any order.
using NamesHash = std::array<uint64_t, 2>;
NamesHash HashOfNames(std::vector<std::string_view> names);

struct StampedFolder {
  std::string host_path;
  FileStat stat;      // of the folder itself, links followed
  NamesHash names{};  // of all names in it, ignored names too
  bool is_link = false;
  bool is_racy = false;
  // Not empty: the folder is not looked into while a file of this name is in it; no other field but
  // the path counts.
  std::string unless;
};

struct StampedFile {
  std::string_view name;
  FileStat stat;                        // links not followed
  std::optional<FileStat> link_target;  // nullopt: no link
  std::optional<Digest> digest;
  bool is_racy = false;
};

class StampTableBuilder {
 public:
  // Returns the folder's number.
  uint32_t Add(const StampedFolder& folder);
  void Add(uint32_t folder, const StampedFile& file);
  // The bytes of the table's file. RESOURCE_EXHAUSTED: names of more than 4 GiB.
  absl::StatusOr<std::string> Finish();

 private:
  std::string names_;
  std::vector<StampedFolder> folders_;
  struct Noted {
    uint32_t folder = 0;
    uint64_t name = 0;  // offset in names_
    FileStat stat;
    bool is_racy = false;
    bool is_unread = false;
    uint32_t digest = 0;  // its number + 1; 0: none
    uint32_t target = 0;  // its number + 1; 0: none
  };
  std::vector<Noted> files_;
  std::vector<Digest> digests_;
  std::vector<FileStat> targets_;
};

// The numbers of a file and of its folder.
struct FileInTable {
  uint32_t folder = 0;
  uint32_t file = 0;
};

// StampPatch: the new stamp of a file or folder of a table.
struct StampPatch {
  std::string folder;  // its host path, as in the table
  std::string name;    // empty: the folder itself
  FileStat stat;
  std::optional<NamesHash> names;  // of a folder; nullopt: as in the table
  std::optional<Digest> digest;    // nullopt: as in the table, if known there
  bool is_racy = false;
  bool has_other_bytes = false;  // the bytes differ from the table's, or may

  std::string host_path() const { return name.empty() ? folder : JoinPath(folder, name); }
};

// StampCheck: the outcome of a comparison of a table with the disk.
struct StampCheck {
  bool holds = false;
  // A difference, for people: "/x/y.png has other bytes". One of several is taken.
  std::string difference;
  uint64_t folders = 0, files = 0;  // of the table
  uint64_t looked_at = 0;           // files that were looked at
  uint64_t hashed = 0, bytes_hashed = 0;
  // With `finds_elsewhere`: files that may change without a change in their folder: links, and
  // files with other hard links.
  std::vector<FileInTable> elsewhere;
  // If the check holds, but stamps differ: bytes for PatchedFile::Write, which give the table
  // today's stamps, so that the next check need not list or hash again. Else empty.
  std::string renewed;
  // If the check holds: host paths of files with other stamps and the same bytes.
  std::vector<std::string> touched;
  // With `changes_max`: if the check fails only since the bytes of a few files differ, all files
  // and folders with other stamps. Else empty.
  std::vector<StampPatch> patches;
};

// Comparisons do not hash a file of this size or more, which takes a second or longer: the user of
// the digest computes it later, beside other work.
inline constexpr uint64_t kHashedHereMax = uint64_t{1} << 30;

class StampRecords;

class StampTable {
 public:
  // NOT_FOUND: absent. INVALID_ARGUMENT: damaged. FAILED_PRECONDITION: of another version.
  // Cost: linear in the patch.
  static absl::StatusOr<StampTable> Open(const std::string& file);
  StampTable(StampTable&&) noexcept;
  StampTable& operator=(StampTable&&) noexcept;
  ~StampTable();

  std::string id() const;  // unique for each table
  // DATA_LOSS: some bytes are wrong. Cost: reads the whole table.
  absl::Status Verify() const;

  struct CheckOptions {
    unsigned threads = 0;          // 0: one for each core, at most 8
    Clock* clock = nullptr;        // wall time; nullptr: the system's
    Cancellation* stop = nullptr;  // a check that is stopped does not hold
    bool finds_elsewhere = false;
    // Not null: only these folders with their files, and `files`, are checked; the others are known
    // to be unchanged. Folders with StampedFolder::unless are always checked.
    const std::vector<uint32_t>* folders = nullptr;
    const std::vector<FileInTable>* files = nullptr;
    // Not 0: a file with other bytes does not end the check while at most this many files and
    // folders have another stamp. A file of kHashedHereMax bytes or more with another stamp ends
    // the check.
    size_t changes_max = 0;
  };
  StampCheck Check(const CheckOptions& options) const;
  // The host paths of the folders by number; empty for folders with StampedFolder::unless.
  std::vector<std::string_view> Folders() const;
  // The hash of the names in this folder; nullopt: the table has no such folder.
  std::optional<NamesHash> NamesOf(std::string_view host_path) const;
  bool HasLinkedFolders() const;
  // True: both have the same folders, each with as many files: a FileInTable holds for both.
  bool IsLaidOutAs(const StampTable& other) const;

  // Bytes for PatchedFile::Write that give the table the stamps of `patches`. FAILED_PRECONDITION:
  // a patch is of no file or folder of the table, of a link, or has other bytes without a digest.
  // DATA_LOSS: the table is damaged.
  // Cost: linear in the folders, and in the file's patch.
  absl::StatusOr<std::string> With(const std::vector<StampPatch>& patches) const;

 private:
  explicit StampTable(std::unique_ptr<StampRecords> records);
  std::unique_ptr<StampRecords> records_;
};

}  // namespace galley::content
