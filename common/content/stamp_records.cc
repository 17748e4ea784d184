#include "common/content/stamp_records.h"

#include <algorithm>
#include <cstring>

namespace galley::content {

absl::Status StampRecords::ReadHeader() {
  const char* const header = file_->At(0, sizeof(StampHeader));
  if (header == nullptr) return absl::InvalidArgumentError("its checksum is wrong");
  std::memcpy(&header_, header, sizeof(StampHeader));
  for (const uint64_t count :
       {header_.folders, header_.files, header_.digests, header_.targets, header_.names_bytes}) {
    if (count > UINT32_MAX) return absl::InvalidArgumentError("it is no table of stamps");
  }
  files_at_ = sizeof(StampHeader) + header_.folders * sizeof(FolderRecord);
  targets_at_ = files_at_ + header_.files * sizeof(FileRecord);
  digests_at_ = targets_at_ + header_.targets * sizeof(StatRecord);
  names_at_ = digests_at_ + header_.digests * Digest::kHashSize;
  if (names_at_ + header_.names_bytes != file_->size())
    return absl::InvalidArgumentError("its parts do not fill it");
  return absl::OkStatus();
}

const char* StampRecords::name(uint32_t at) const {
  // A block is looked at for as long as the name does not end there.
  for (uint64_t end = at; end < header_.names_bytes;) {
    const uint64_t from = names_at_ + end;
    const uint64_t size =
        std::min(PatchedFile::kBlockBytes - from % PatchedFile::kBlockBytes, file_->size() - from);
    const char* const bytes = file_->At(from, size);
    if (bytes == nullptr) return "";
    if (std::memchr(bytes, '\0', size) != nullptr) return file_->begin() + names_at_ + at;
    end += size;
  }
  file_->NoteDamage();
  return "";
}

}  // namespace galley::content
