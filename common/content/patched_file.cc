#include "common/content/patched_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

// Both kinds of files begin with a magic, and the checksum of all behind it that is read at once.
constexpr std::string_view kPatchMagic = "GLYPTCH1";
constexpr size_t kMagicBytes = 8;
constexpr size_t kSumBytes = 16;
constexpr size_t kCheckedFrom = kMagicBytes + kSumBytes;
constexpr size_t kHeadBytes = kCheckedFrom + sizeof(uint64_t);  // with the size of the payload
constexpr size_t kRangeHeadBytes = 2 * sizeof(uint64_t);
constexpr uint64_t kPatchFileBytesMax = uint64_t{64} << 20;

// Numbers are little-endian, like those of all machines that Galley runs on.
std::string SumOf(std::string_view bytes) {
  const XXH128_hash_t sum = XXH3_128bits(bytes.data(), bytes.size());
  const uint64_t words[2] = {sum.low64, sum.high64};
  return {reinterpret_cast<const char*>(words), sizeof(words)};
}

std::string HexOf(std::string_view sum) {
  uint64_t words[2];
  std::memcpy(words, sum.data(), sizeof(words));
  return fmt::format("{:016x}{:016x}", words[1], words[0]);
}

uint64_t NumberAt(std::string_view bytes, size_t at) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

void AppendNumber(std::string& bytes, uint64_t value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

size_t BlocksOf(uint64_t size) {
  return static_cast<size_t>((size + PatchedFile::kBlockBytes - 1) / PatchedFile::kBlockBytes);
}

std::string_view BlockOf(std::string_view payload, size_t block) {
  return payload.substr(block * PatchedFile::kBlockBytes, PatchedFile::kBlockBytes);
}

absl::Status Wrong(std::string_view how) {
  return absl::InvalidArgumentError({how.data(), how.size()});
}

// With the checksum put before what it is of.
std::string Checked(std::string_view magic, std::string_view checked) {
  return std::string(magic).append(SumOf(checked)).append(checked);
}

std::string EncodePatch(std::string_view base_sum, const PatchedFile::Ranges& ranges) {
  std::string checked(base_sum);
  for (const auto& [at, bytes] : ranges) {
    AppendNumber(checked, at);
    AppendNumber(checked, bytes.size());
    checked.append(bytes);
  }
  return Checked(kPatchMagic, checked);
}

}  // namespace

absl::StatusOr<std::unique_ptr<PatchedFile>> PatchedFile::Open(const std::string& file,
                                                               std::string_view magic) {
  const absl::StatusOr<std::string> patch = ReadFile(PatchOf(file), kPatchFileBytesMax);
  // A writable mapping counts as memory in use where the system lends no more than it has.
  ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(file, /*is_writable=*/patch.ok()));
  std::unique_ptr<PatchedFile> opened(new PatchedFile);
  opened->mapped_ = std::move(mapped);
  RETURN_IF_ERROR(opened->ReadHead(opened->mapped_->bytes(), magic));
  if (absl::IsNotFound(patch.status())) return opened;
  if (!patch.ok()) return Wrong(fmt::format("its patch: {}", MessageOf(patch.status())));
  RETURN_IF_ERROR(opened->ReadPatch(*patch));
  return opened;
}

absl::StatusOr<std::unique_ptr<PatchedFile>> PatchedFile::FromBytes(std::string bytes,
                                                                    std::string_view magic) {
  std::unique_ptr<PatchedFile> opened(new PatchedFile);
  opened->memory_ = std::move(bytes);
  RETURN_IF_ERROR(opened->ReadHead(opened->memory_, magic));
  return opened;
}

absl::Status PatchedFile::ReadHead(std::string_view all, std::string_view magic) {
  const size_t size = all.size();
  if (size < kHeadBytes) return Wrong("it is cut off");
  if (!all.starts_with(magic.substr(0, kMagicBytes - 1))) return Wrong("it is no such table");
  if (all[kMagicBytes - 1] != magic.back())
    return absl::FailedPreconditionError("it is of another version of Galley");
  const uint64_t payload = NumberAt(all, kCheckedFrom);
  if (payload > size) return Wrong("it is cut off");
  const size_t sums = BlocksOf(payload) * kSumBytes;
  if (size != kHeadBytes + sums + payload) return Wrong("its parts do not fill it");
  base_sum_ = all.substr(kMagicBytes, kSumBytes);
  if (SumOf(all.substr(kCheckedFrom, sizeof(uint64_t) + sums)) != base_sum_)
    return Wrong("its checksum is wrong");
  magic_ = magic;
  sums_ = all.substr(kHeadBytes, sums);
  begin_ = const_cast<char*>(all.data()) + kHeadBytes + sums;
  size_ = payload;
  blocks_ = std::make_unique<std::atomic<uint8_t>[]>(BlocksOf(payload));
  return absl::OkStatus();
}

absl::Status PatchedFile::ReadPatch(std::string_view bytes) {
  if (bytes.size() < kCheckedFrom + kSumBytes || !bytes.starts_with(kPatchMagic))
    return Wrong("its patch is none, or one of another version");
  const std::string_view sum = bytes.substr(kMagicBytes, kSumBytes);
  std::string_view rest = bytes.substr(kCheckedFrom);
  if (SumOf(rest) != sum) return Wrong("the checksum of its patch is wrong");
  if (!rest.starts_with(base_sum_)) return absl::OkStatus();  // it is of another file
  rest.remove_prefix(kSumBytes);
  uint64_t end = 0;
  while (!rest.empty()) {
    if (rest.size() < kRangeHeadBytes) return Wrong("its patch is cut off");
    const uint64_t at = NumberAt(rest, 0);
    const uint64_t size = NumberAt(rest, sizeof(uint64_t));
    rest.remove_prefix(kRangeHeadBytes);
    if (at < end || at > size_ || size > size_ - at || size > rest.size())
      return Wrong("its patch is of no such file");
    ranges_.emplace_hint(ranges_.end(), at, rest.substr(0, size));
    rest.remove_prefix(size);
    end = at + size;
  }
  patch_sum_ = sum;
  return absl::OkStatus();
}

std::string PatchedFile::id() const { return HexOf(patch_sum_.empty() ? base_sum_ : patch_sum_); }

const char* PatchedFile::At(uint64_t at, uint64_t size) const {
  if (at > size_ || size > size_ - at) {
    NoteDamage();
    return nullptr;
  }
  const size_t end = BlocksOf(at + size);
  for (size_t block = at / kBlockBytes; block < end; ++block) {
    if (blocks_[block].load(std::memory_order_acquire) != kRight && !Touch(block)) return nullptr;
  }
  return begin_ + at;
}

bool PatchedFile::Touch(size_t block) const {
  const base::MutexLock lock(mutex_);
  std::atomic<uint8_t>& state = blocks_[block];
  if (state == kUnread) {
    const bool is_right =
        SumOf(BlockOf({begin_, size_}, block)) == sums_.substr(block * kSumBytes, kSumBytes);
    if (is_right) Apply(block);
    state.store(is_right ? kRight : kWrong, std::memory_order_release);
  }
  if (state == kWrong) NoteDamage();
  return state == kRight;
}

// A range may lie in several blocks.
void PatchedFile::Apply(size_t block) const {
  const uint64_t begin = block * kBlockBytes;
  const uint64_t end = std::min<uint64_t>(begin + kBlockBytes, size_);
  auto range = ranges_.lower_bound(begin);
  if (range != ranges_.begin()) --range;
  for (; range != ranges_.end() && range->first < end; ++range) {
    const auto& [at, bytes] = *range;
    const uint64_t from = std::max(at, begin);
    const uint64_t to = std::min(at + bytes.size(), end);
    if (from < to) std::memcpy(begin_ + from, bytes.data() + (from - at), to - from);
  }
}

absl::Status PatchedFile::Status() const {
  return is_damaged_ ? absl::DataLossError("its checksum is wrong") : absl::OkStatus();
}

absl::Status PatchedFile::Verify() const {
  (void)At(0, size_);
  return Status();
}

absl::StatusOr<std::string> PatchedFile::With(const Ranges& ranges) const {
  RETURN_IF_ERROR(Status());
  Ranges all = ranges;
  all.insert(ranges_.begin(), ranges_.end());  // the given ranges win
  size_t patch_bytes = kCheckedFrom + kSumBytes;
  for (const auto& [at, bytes] : all) patch_bytes += kRangeHeadBytes + bytes.size();
  // A file that is in memory only has no place for a patch beside it.
  const bool is_small = patch_bytes <= std::min(kPatchBytesMax, size_ / 2);
  if (mapped_.has_value() && is_small) return EncodePatch(base_sum_, all);
  RETURN_IF_ERROR(Verify());
  std::string payload(begin_, size_);
  for (const auto& [at, bytes] : ranges) payload.replace(at, bytes.size(), bytes);
  return Seal(magic_, payload);
}

std::string PatchedFile::Seal(std::string_view magic, std::string_view payload) {
  std::string checked;
  AppendNumber(checked, payload.size());
  for (size_t block = 0; block < BlocksOf(payload.size()); ++block)
    checked += SumOf(BlockOf(payload, block));
  std::string bytes;
  bytes.reserve(kCheckedFrom + checked.size() + payload.size());
  return bytes.append(Checked(magic, checked)).append(payload);
}

std::string PatchedFile::IdOf(std::string_view bytes) {
  return HexOf(bytes.substr(kMagicBytes, kSumBytes));
}

bool PatchedFile::IsPatch(std::string_view bytes) { return bytes.starts_with(kPatchMagic); }

absl::Status PatchedFile::Write(const std::string& file, std::string_view bytes) {
  const std::string patch = PatchOf(file);
  if (!IsPatch(bytes)) {
    RETURN_IF_ERROR(EnsureWritableFile(file));
    RETURN_IF_ERROR(WriteFileAtomic(file, bytes));
    // A patch that stays belongs to another file.
    RETURN_IF_ERROR(EnsureWritableFile(patch));
    std::error_code error;
    std::filesystem::remove(patch, error);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const MappedFile base, MappedFile::Open(file));
  const std::string_view head = base.bytes().substr(0, kCheckedFrom);
  if (head.size() < kCheckedFrom ||
      head.substr(kMagicBytes) != bytes.substr(kCheckedFrom, kSumBytes))
    return FailedPreconditionError("{} is another file by now", file);
  RETURN_IF_ERROR(EnsureWritableFile(patch));
  return WriteFileAtomic(patch, bytes);
}

}  // namespace galley::content
