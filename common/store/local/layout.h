// The names in a store directory, and the marks that say it is one. docs/store.md has the whole
// layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/store/interface/store.h"
#include "common/store/interface/sync_doubt.h"

namespace galley::store {

inline constexpr std::string_view kStoreFormat = "galley-store 1";

std::string SegmentPath(std::string_view store_directory, uint64_t segment);
std::string BlobFilePath(std::string_view store_directory, const Digest& digest);
std::string QuarantineDirectory(std::string_view store_directory);
std::string TemporaryDirectory(std::string_view store_directory);
// The number in "<16 hex digits>.seg"; nullopt for any other name.
std::optional<uint64_t> ParseSegmentName(std::string_view name);
// The digest in "<hex>-<size>"; nullopt for any other name.
std::optional<Digest> ParseBlobFileName(std::string_view name);

// Opens a segment or a blob's file to be read. One of this user's whose mode forbids it is given
// `mode` first, which is noted (common/base/healed.h).
inline constexpr uint32_t kSegmentMode = 0644;
absl::StatusOr<FileDescriptor> OpenStored(const std::string& path, uint32_t mode);

struct SegmentListing {
  uint64_t number = 0;
  uint64_t size_bytes = 0;
};
// By number. Other names are ignored.
absl::StatusOr<std::vector<SegmentListing>> ListSegments(const std::string& store_directory);

// OpenedLayout: what the owner holds while it lives.
struct OpenedLayout {
  FileDescriptor folder_lock;  // of the folder itself: the file `lock` may be deleted
  FileDescriptor lock;
  std::string store_id;  // 32 hex digits
  // The number in the file `epoch`; 0 when it is absent; nullopt when it is damaged.
  std::optional<uint64_t> epoch_of_file = 0;
  uint64_t epoch_of_segments = 0;  // as the segments' headers say that were read
};
// Makes the folders of a store that are not there.
absl::Status MakeStoreFolders(const std::string& store_directory);
// Makes or opens the layout and takes the lock. The folder of large blobs is not made again where a
// store lacks it: the index is to forget them first. What is damaged of the files that say what
// store this is, is put right (common/base/healed.h). ALREADY_EXISTS: owned by another;
// FAILED_PRECONDITION: a newer format, or a folder that is no store; PERMISSION_DENIED: not
// writable, with what to do.
absl::StatusOr<OpenedLayout> OpenLayout(const std::string& store_directory);
// The id of the store in a folder, for one who only asks; empty: there is none that can be read.
std::string StoreIdIn(const std::string& store_directory);
// The loss epoch of that store; 0: it lost nothing, or the epoch cannot be read.
uint64_t LossEpochIn(const std::string& store_directory);
// The mark of sync_doubt.h, not synced.
std::string SyncMarkPath(std::string_view store_directory);
absl::Status AppendSyncMark(const std::string& store_directory, std::string_view bytes);
// Reads the mark; none when it is absent.
absl::StatusOr<DecodedSyncMark> ReadSyncMark(const std::string& store_directory);
absl::Status RemoveSyncMark(const std::string& store_directory);
// Whose results are not to be used any more (revoked_list.h).
std::string RevokedPath(std::string_view store_directory);
// Digests that `store put` of `path` knows from the last time.
std::string PutDigestsPath(std::string_view store_directory, std::string_view path);
// Files that `checkout --link` has verified.
std::string VerifiedFilesPath(std::string_view store_directory);
// The place of a large blob's file from the time when it was condemned until the log says so
// (maintenance/sweeper.h).
std::string CollectedFilePath(std::string_view store_directory, const Digest& digest);
// Puts a collected file back in its place, unless another lies there. NOT_FOUND: it was not put
// aside.
absl::Status RestoreCollectedFile(const std::string& store_directory, const Digest& digest);
// Lists the files that are put aside.
absl::StatusOr<std::vector<Digest>> ListCollectedFiles(const std::string& store_directory);
absl::Status WriteEpoch(const std::string& store_directory, uint64_t epoch);
// RESOURCE_EXHAUSTED when fewer than `bytes_wanted` + `margin_bytes` are free.
absl::Status CheckFreeSpace(const std::string& store_directory, uint64_t bytes_wanted,
                            uint64_t margin_bytes);

}  // namespace galley::store
