// StampTable: what folders and files looked like when somebody knew what was in them. It proves
// later, with one stat for each, that they are as they were, without a walk, a list in memory or a
// codec: the file is mapped, and read where it lies.
//
// A folder is as it was when its stamp (device, inode, times) is, or else when it lists the same
// names. A file is as it was when its stamp and mode are, or else when its digest is known and its
// bytes still have it. What was racy when it was looked at (common/base/racy.h) is listed, or
// hashed, whatever its stamp says. A link must have its stamp and that of what it leads to.
//
// Changes since the table was written lie beside it (patched_file.h). A part that is found damaged
// makes a check that reads of it not hold, and everything else an error.
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

// NamesHash: stands for the names of all that a folder holds, in any order.
using NamesHash = std::array<uint64_t, 2>;
NamesHash HashOfNames(std::vector<std::string_view> names);

struct StampedFolder {
  std::string host_path;
  FileStat stat;      // of the folder itself, links followed
  NamesHash names{};  // of all that is in it, also of what nobody looks at
  bool is_link = false;
  bool is_racy = false;
  // A folder that nobody looks into for as long as it holds this file; the rest counts for nothing.
  std::string unless;
};

struct StampedFile {
  std::string_view name;
  FileStat stat;                        // links not followed
  std::optional<FileStat> link_target;  // of a link
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
    uint64_t name = 0;  // where it begins in names_
    FileStat stat;
    bool is_racy = false;
    bool is_unread = false;
    uint32_t digest = 0;  // its number and 1; 0: none
    uint32_t target = 0;  // likewise
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

// StampPatch: how a file of a table, or a folder, is now.
struct StampPatch {
  std::string folder;  // its host path, as in the table
  std::string name;    // empty: the folder itself
  FileStat stat;
  std::optional<NamesHash> names;  // of a folder; nullopt: those of the table
  std::optional<Digest> digest;    // nullopt: that of the table, if it has one
  bool is_racy = false;
  bool has_other_bytes = false;  // it is another file than that of the table, or may be

  std::string host_path() const { return name.empty() ? folder : JoinPath(folder, name); }
};

// StampCheck: how the folders and files of a table are today.
struct StampCheck {
  bool holds = false;
  // The first that was found to differ, for people: "/x/y.png has other bytes". Of several, any.
  std::string difference;
  uint64_t folders = 0, files = 0;  // of the table
  uint64_t looked_at = 0;           // files, of these
  uint64_t hashed = 0, bytes_hashed = 0;
  // Asked for with `finds_elsewhere`: files that somebody may change without a change in their
  // folder: links, and files that have other names, too.
  std::vector<FileInTable> elsewhere;
  // The bytes that PatchedFile::Write makes of the table's file when the files hold and some have
  // other stamps: a table with today's stamps, which spares the next check the looks of this one.
  // Else empty.
  std::string renewed;
  // Then: the files, by host path, that have other stamps and the same bytes.
  std::vector<std::string> touched;
  // Asked for with `changes_max`: they do not hold, but nothing differs other than the bytes of a
  // few files: all that has another stamp. Else empty.
  std::vector<StampPatch> patches;
};

// Whoever compares files hashes none of so many bytes, which takes about a second: that is done
// beside the rest, by whoever needs the digest.
inline constexpr uint64_t kHashedHereMax = uint64_t{1} << 30;

class StampRecords;

class StampTable {
 public:
  // NOT_FOUND: there is none. INVALID_ARGUMENT: it is damaged. FAILED_PRECONDITION: it is of
  // another version. Cost: that of its patch.
  static absl::StatusOr<StampTable> Open(const std::string& file);
  StampTable(StampTable&&) noexcept;
  StampTable& operator=(StampTable&&) noexcept;
  ~StampTable();

  std::string id() const;  // it tells a table from all others
  // DATA_LOSS: some of its bytes are wrong. Cost: all of them.
  absl::Status Verify() const;

  struct CheckOptions {
    unsigned threads = 0;          // 0: one for each core, at most 8
    Clock* clock = nullptr;        // wall time; nullptr: the system's
    Cancellation* stop = nullptr;  // a check that is stopped does not hold
    bool finds_elsewhere = false;
    // Not null: only these folders, with their files, and these files; the rest is known to be as
    // it was. Folders that are there only for a file in them (StampedFolder::unless) always.
    const std::vector<uint32_t>* folders = nullptr;
    const std::vector<FileInTable>* files = nullptr;
    // Not 0: a file with other bytes does not end the check, as long as no more than so many files
    // and folders have another stamp; a file of kHashedHereMax bytes does, by its stamp.
    size_t changes_max = 0;
  };
  StampCheck Check(const CheckOptions& options) const;
  // The host paths of the folders by number; empty: one that is there only for a file in it.
  std::vector<std::string_view> Folders() const;
  // The hash of the names in this folder; nullopt: the table has no such folder.
  std::optional<NamesHash> NamesOf(std::string_view host_path) const;
  bool HasLinkedFolders() const;
  // Both have the same folders, each with as many files: FileInTable of one is one of the other.
  bool IsLaidOutAs(const StampTable& other) const;

  // The bytes that make the table's file (PatchedFile::Write) one in which these files and folders
  // are as given, and all else as here. FAILED_PRECONDITION: one of them is no plain file of the
  // table, and no folder. DATA_LOSS: it is damaged. Cost: that of the folders, and of what was
  // replaced since the file was written.
  absl::StatusOr<std::string> With(const std::vector<StampPatch>& patches) const;

 private:
  explicit StampTable(std::unique_ptr<StampRecords> records);
  std::unique_ptr<StampRecords> records_;
};

}  // namespace galley::content
