// Layout: the paths in a store directory, and the files that mark it as a store. docs/store.md
// describes the whole layout.
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
// Returns the number in "<16 hex digits>.seg"; nullopt for any other name.
std::optional<uint64_t> ParseSegmentName(std::string_view name);
// Returns the digest in "<hex>-<size>"; nullopt for any other name.
std::optional<Digest> ParseBlobFileName(std::string_view name);

// Puts a new file with `text` at `path`, open and locked. Nobody sees it before it is locked.
// `flags`: more flags of open(2).
absl::StatusOr<FileDescriptor> PutLocked(const std::string& store_directory,
                                         const std::string& path, std::string_view text,
                                         int flags = 0);

// Opens a segment or a blob's file for reading. If the mode of this user's file forbids reading,
// first gives it `mode`, which is noted (common/base/repairs.h).
inline constexpr uint32_t kSegmentMode = 0644;
absl::StatusOr<FileDescriptor> OpenStored(const std::string& path, uint32_t mode);

struct SegmentListing {
  uint64_t number = 0;
  uint64_t size_bytes = 0;
};
// Returns the segments by number; ignores other names.
absl::StatusOr<std::vector<SegmentListing>> ListSegments(const std::string& store_directory);

// OpenedLayout: the locks and identity of a store, which its owner holds for life.
struct OpenedLayout {
  FileDescriptor folder_lock;  // of the folder itself: the file `lock` may be deleted
  FileDescriptor lock;
  std::string store_id;  // 32 hex digits
  // The number in the file `epoch`; 0 when it is absent; nullopt when it is damaged.
  std::optional<uint64_t> epoch_of_file = 0;
  uint64_t epoch_of_segments = 0;  // by the headers of the segments that were read
};
// Makes the absent folders of a store.
absl::Status MakeStoreFolders(const std::string& store_directory);
// Makes or opens the layout and takes the lock. Does not make an absent folder of large blobs in an
// existing store: the index has to forget those blobs first. Repairs damaged files that identify
// the store (common/base/repairs.h). ALREADY_EXISTS: another process owns the store.
// FAILED_PRECONDITION: a newer format, or a folder that is no store. PERMISSION_DENIED: not
// writable; the text says what to do.
absl::StatusOr<OpenedLayout> OpenLayout(const std::string& store_directory);
// Returns the id of the store in a folder, without opening the store; empty: there is no readable
// id.
std::string StoreIdIn(const std::string& store_directory);
// Returns the loss epoch of the store in a folder; 0: it lost nothing, or the epoch cannot be read.
uint64_t LossEpochIn(const std::string& store_directory);
// The file of SyncMark (sync_doubt.h), which is not synced.
std::string SyncMarkPath(std::string_view store_directory);
absl::Status AppendSyncMark(const std::string& store_directory, std::string_view bytes);
// Reads the mark; an absent file is no mark.
absl::StatusOr<DecodedSyncMark> ReadSyncMark(const std::string& store_directory);
absl::Status RemoveSyncMark(const std::string& store_directory);
// The file of RevokedList (revoked_list.h).
std::string RevokedPath(std::string_view store_directory);
// The file of LeaseList (lease_list.h).
std::string LeasesPath(std::string_view store_directory);
// The digests that the last `store put` of `path` found.
std::string PutDigestsPath(std::string_view store_directory, std::string_view path);
// The list of files that `checkout --link` has verified.
std::string VerifiedFilesPath(std::string_view store_directory);
// The path of a condemned large blob's file until the log says that the blob is gone
// (maintenance/sweeper.h).
std::string CollectedFilePath(std::string_view store_directory, const Digest& digest);
// Moves a condemned file back to its place, unless another file lies there. NOT_FOUND: no such file
// was put aside.
absl::Status RestoreCollectedFile(const std::string& store_directory, const Digest& digest);
// Lists the condemned files that are put aside.
absl::StatusOr<std::vector<Digest>> ListCollectedFiles(const std::string& store_directory);
absl::Status WriteEpoch(const std::string& store_directory, uint64_t epoch);
// RESOURCE_EXHAUSTED: fewer than `bytes_wanted` + `margin_bytes` are free.
absl::Status CheckFreeSpace(const std::string& store_directory, uint64_t bytes_wanted,
                            uint64_t margin_bytes);

}  // namespace galley::store
