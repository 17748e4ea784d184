// TableWriter, TableFile: the file of Snapshot::WriteTable and its encoding (docs/formats.md,
// "Snapshot table").
//
// The file is mapped. Its rows lie in chunks, and each chunk is decoded alone, so that a look at a
// few files costs little. A table may have another table as its base; then it holds only the rows
// that differ from the base's.
//
// Threads: a TableFile from any; a TableWriter from one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/mapped_file.h"
#include "common/content/byte_codec.h"
#include "common/content/snapshot.h"
#include "common/content/walk.h"

namespace galley::content {

struct HashedDigest {
  Digest digest;
  int64_t hashed_ns = 0;  // wall time before the file's first byte was read
};

// Knowledge: facts about a file beside its entry.
struct Knowledge {
  int64_t seen_ns = 0;
  bool has_clash = false;  // the entry's error was given by Overlay, not by the file itself
  std::optional<HashedDigest> known;
};

struct Row {
  FileEntry entry;
  Knowledge knowledge;
};

// TableHead: a table without its rows.
struct TableHead {
  std::string identity;       // see Snapshot::WriteTable
  std::string base;           // the name of its base, in the same folder; empty: it has none
  std::string base_identity;  // the base's identity
  std::vector<Mount> mounts;
  std::vector<std::string> ignore;
  std::vector<std::string> excluded_directories;
  std::vector<std::string> sandboxes;
  std::vector<SeenFile> hidden;
};

class TableWriter {
 public:
  explicit TableWriter(TableHead head) : head_(std::move(head)) {}
  // REQUIRES: files are added in the order of their paths.
  void Add(const FileEntry& entry, const Knowledge& knowledge);
  // Returns the bytes of the file. Called once.
  std::string Finish();

 private:
  const TableHead head_;
  std::string bytes_;  // of the chunks
  ByteWriter chunk_;   // the last chunk
  size_t rows_ = 0;
  struct Chunk {
    std::string first;  // the path of its first row
    size_t begin = 0;   // in bytes_
  };
  std::vector<Chunk> chunks_;
};

class TableFile {
 public:
  // The number of rows in every chunk but the last.
  static constexpr size_t kRowsOfChunk = 128;

  // NOT_FOUND: absent. INVALID_ARGUMENT: damaged. FAILED_PRECONDITION: of another version. Whoever
  // changes the content of rows raises the version, since Read must not fail if the checksum is
  // right.
  static absl::StatusOr<TableFile> Open(const std::string& file);
  // Open, for bytes, which outlive the TableFile. `is_trusted`: the checksum is not checked.
  static absl::StatusOr<TableFile> FromBytes(std::string_view bytes, bool is_trusted = false);

  const TableHead& head() const { return head_; }
  size_t rows() const { return rows_; }
  size_t chunks() const { return chunks_.size(); }
  // The path of a chunk's first row.
  std::string_view FirstOf(size_t chunk) const { return chunks_[chunk].first; }
  // The rows of a chunk. INVALID_ARGUMENT: the order, an index or a path is not as TableWriter
  // writes it.
  absl::StatusOr<std::vector<Row>> Read(size_t chunk) const;

 private:
  TableFile() = default;
  absl::Status ReadHead(std::string_view payload);

  std::optional<MappedFile> mapped_;
  TableHead head_;
  size_t rows_ = 0;
  struct Chunk {
    std::string_view first;
    std::string_view bytes;
  };
  std::vector<Chunk> chunks_;
};

}  // namespace galley::content
