#include "common/store/local/look.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/hex.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "common/store/local/fixed_fields.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_reader.h"
#include "fmt/format.h"
#include "rocksdb/db.h"

namespace galley::store {
namespace {

constexpr uint64_t kMarkBytesMax = 4096;
constexpr size_t kIdBytes = 16;

// A status of the index in RocksDB's own words.
absl::Status AsItIs(const rocksdb::Status& status) {
  return status.ok() ? absl::OkStatus() : absl::DataLossError(status.ToString());
}

// Bad: counts the bad files of each kind and names the first.
class Bad {
 public:
  void Add(const std::string& path) {
    if (count_++ == 0) first_ = path;
  }
  void TellInto(std::vector<Finding>& findings, std::string_view what,
                std::string_view healed_by = {}) const {
    if (count_ == 0) return;
    Finding finding{first_,
                    count_ == 1 ? std::string(what) : fmt::format("{} ({} like it)", what, count_)};
    if (!healed_by.empty()) finding.healed_by = healed_by;
    findings.push_back(std::move(finding));
  }

 private:
  size_t count_ = 0;
  std::string first_;
};

class Look {
 public:
  explicit Look(std::string directory) : directory_(std::move(directory)) {}

  StoreLook Take() && {
    look_.is_owned = IsOwned();
    LookAtFormat();
    LookAtSegments();
    LookAtId();
    LookAtEpoch();
    if (!look_.is_owned) LookAtIndex();
    return std::move(look_);
  }

 private:
  void Tell(const std::string& path, std::string what) {
    look_.findings.push_back({path, std::move(what)});
  }
  std::string Path(std::string_view name) const { return JoinPath(directory_, name); }

  bool IsOwned() const {
    const FileDescriptor lock(::open(Path("lock").c_str(), O_RDONLY | O_CLOEXEC));
    return lock.valid() && ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  }

  // A line without its end; nullopt, and told: it is gone or cannot be read.
  std::optional<std::string> ReadMark(std::string_view name) {
    absl::StatusOr<std::string> text = ReadFile(Path(name), kMarkBytesMax);
    if (!text.ok()) {
      Tell(Path(name), absl::IsNotFound(text.status()) ? "it is gone" : MessageOf(text.status()));
      return std::nullopt;
    }
    if (text->ends_with('\n')) text->pop_back();
    return *std::move(text);
  }

  void LookAtFormat() {
    const auto text = ReadMark("format");
    if (!text || *text == kStoreFormat) return;
    if (const absl::Status ours = Unseal("galley-store", 1, *text + "\n").status();
        absl::IsFailedPrecondition(ours)) {
      look_.refusal = fmt::format("{}: {}", Path("format"), MessageOf(ours));
    } else {
      Tell(Path("format"), "it is damaged");
    }
  }

  void LookAtSegments() {
    const auto segments = ListSegments(directory_);
    if (!segments.ok()) return Tell(Path("segments"), MessageOf(segments.status()));
    Bad damaged, forbidden;
    for (const SegmentListing& segment : *segments) {
      sizes_[segment.number] = segment.size_bytes;
      // Whoever reads a header puts the file's mode right first.
      const std::string path = SegmentPath(directory_, segment.number);
      if (::access(path.c_str(), R_OK) != 0) {
        forbidden.Add(path);
        continue;
      }
      const auto header = ReadSegmentHeader(directory_, segment.number);
      if (header.ok()) {
        newest_id_ = header->store_id;
        epoch_of_segments_ = std::max(epoch_of_segments_, header->loss_epoch);
      } else if (absl::IsFailedPrecondition(header.status())) {
        look_.refusal = MessageOf(header.status());
      } else if (segment.size_bytes > 0) {
        damaged.Add(SegmentPath(directory_, segment.number));
      }
    }
    damaged.TellInto(look_.findings, "the header of this segment is damaged");
    forbidden.TellInto(look_.findings, "the mode of this segment forbids to read it");
  }

  void LookAtId() {
    const auto id = ReadMark("id");
    if (!id) return;
    const bool is_id = id->size() == 2 * kIdBytes && HexDecode(*id).has_value();
    if (!is_id) {
      Tell(Path("id"), "it is damaged");
    } else if (!newest_id_.empty() && newest_id_ != *id) {
      Tell(Path("id"), "it is not the id that the segments have");
    }
  }

  void LookAtEpoch() {
    const auto text = ReadFile(Path("epoch"), kMarkBytesMax);
    if (absl::IsNotFound(text.status())) {
      if (epoch_of_segments_ > 0) Tell(Path("epoch"), "it is gone");
      return;
    }
    if (!text.ok()) return Tell(Path("epoch"), MessageOf(text.status()));
    uint64_t epoch = 0;
    std::from_chars(text->data(), text->data() + text->size(), epoch);
    const std::string digits = fmt::format("{}", epoch);
    if (*text != fmt::format("{} {:016x}\n", digits, Checksum(digits))) {
      Tell(Path("epoch"), "it is damaged");
    } else if (epoch < epoch_of_segments_) {
      Tell(Path("epoch"), fmt::format("it is an older file: it says {}, a segment says {}", epoch,
                                      epoch_of_segments_));
    }
  }

  void LookAtIndex() {
    const std::string path = Path("index");
    if (!FileExists(path)) {
      if (!sizes_.empty()) Tell(path, "it is gone");
      return;
    }
    std::unique_ptr<rocksdb::DB> index;
    const rocksdb::Status status = rocks::OpenForLook(path, index);
    const absl::Status whole = status.ok() ? LookAtWhatItNames(*index) : AsItIs(status);
    if (!whole.ok())
      Tell(path, fmt::format("the index is damaged, and is made again from segments and files ({})",
                             MessageOf(whole)));
  }

  // The keys are those of index_values.h: "s" and a segment's number, "b" and a blob's digest.
  absl::Status LookAtWhatItNames(rocksdb::DB& index) {
    rocks::PrefixScan scan(index, AsItIs, rocks::PastTheCache());
    Bad segments, files;
    absl::Status whole = scan.Each("s", [&](std::string_view key, std::string_view value) {
      return LookAtSegment(key, value, segments);
    });
    whole.Update(scan.Each("b", [&](std::string_view key, std::string_view value) {
      return LookAtBlob(key, value, files);
    }));
    // Damage of the index does not hide what else was found.
    segments.TellInto(look_.findings, "this segment is gone or shorter than it was");
    files.TellInto(look_.findings, "this file is gone or has another size",
                   "the next cook that needs it makes it again");
    return whole;
  }

  absl::Status LookAtSegment(std::string_view key, std::string_view value, Bad& segments) const {
    if (key.size() != 9 || value.size() != 16)
      return AsItIs(rocksdb::Status::Corruption("a segment"));
    uint64_t number = 0;
    for (const char c : key.substr(1)) number = number << 8 | static_cast<uint8_t>(c);
    const auto found = sizes_.find(number);
    const uint64_t indexed_bytes = GetFixed64(value, 8);
    // A segment whose loss is known has no indexed bytes.
    if (indexed_bytes != 0 && (found == sizes_.end() || found->second < indexed_bytes))
      segments.Add(SegmentPath(directory_, number));
    return absl::OkStatus();
  }

  absl::Status LookAtBlob(std::string_view key, std::string_view value, Bad& files) const {
    if (key.size() != 1 + Digest::kHashSize + 8 || value.size() < 16)
      return AsItIs(rocksdb::Status::Corruption("a blob"));
    if (GetFixed64(value, 0) != 0) return absl::OkStatus();
    const auto digest = GetDigest(key, 1);
    if (!digest.ok()) return AsItIs(rocksdb::Status::Corruption("a blob's key"));
    const std::string path = BlobFilePath(directory_, *digest);
    const auto stat = StatFile(path);
    if (!stat.ok() || !S_ISREG(stat->mode) || stat->size_bytes != digest->size_bytes())
      files.Add(path);
    return absl::OkStatus();
  }

  const std::string directory_;
  StoreLook look_;
  std::map<uint64_t, uint64_t> sizes_;  // of segments
  std::string newest_id_;               // as the newest segment says that can be read
  uint64_t epoch_of_segments_ = 0;      // the highest that a header says
};

}  // namespace

absl::StatusOr<StoreLook> LookAtStore(const std::string& store_directory) {
  if (!FileExists(JoinPath(store_directory, "format")) &&
      !FileExists(JoinPath(store_directory, "segments")))
    return NotFoundError("there is no store in {}", store_directory);
  return Look(store_directory).Take();
}

}  // namespace galley::store
