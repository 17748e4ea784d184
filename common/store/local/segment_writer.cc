#include "common/store/local/segment_writer.h"

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/open.h"
#include "common/store/local/segment_file.h"

namespace galley::store {
namespace {

class FileSegmentWriter final : public SegmentWriter {
 public:
  FileSegmentWriter(std::string directory, std::unique_ptr<SegmentFile> file)
      : directory_(std::move(directory)), file_(std::move(file)) {}

  absl::StatusOr<std::pair<Digest, BlobLocation>> Append(std::string_view bytes) override {
    const Digest digest = Digest::Of(bytes);
    if (bytes.size() > kSmallBlobBytesMax) {
      RETURN_IF_ERROR(WriteBlobFile(directory_, digest, bytes));
      return std::pair(digest, BlobLocation{});
    }
    ASSIGN_OR_RETURN(const uint64_t offset, file_->Append(RecordKind::kBlob, digest, bytes));
    return std::pair(digest, BlobLocation{.segment = file_->number(), .offset = offset});
  }

  absl::StatusOr<std::vector<BlobLocation>> AppendHashed(std::span<const BlobView> blobs) override {
    std::vector<SegmentFile::KeyedPayload> records;
    for (const BlobView& blob : blobs)
      records.push_back({.key = blob.digest, .payload = blob.bytes});
    ASSIGN_OR_RETURN(uint64_t offset, file_->Append(RecordKind::kBlob, records));
    std::vector<BlobLocation> locations;
    for (const BlobView& blob : blobs) {
      locations.push_back({.segment = file_->number(), .offset = offset});
      offset += RecordSpan(blob.bytes.size());
    }
    return locations;
  }

  uint64_t size_bytes() const override { return file_->size_bytes(); }
  bool is_linked() const override { return file_->is_linked(); }

 private:
  const std::string directory_;
  const std::unique_ptr<SegmentFile> file_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SegmentWriter>> SegmentWriter::Open(
    const std::string& store_directory, uint64_t segment) {
  ASSIGN_OR_RETURN(std::unique_ptr<SegmentFile> file, SegmentFile::Open(store_directory, segment));
  if (file->writer() != SegmentWriterKind::kWorker) {
    return FailedPreconditionError(
        "segment {:016x} is the owner's own: ask the owner to allocate one", segment);
  }
  return std::unique_ptr<SegmentWriter>(new FileSegmentWriter(store_directory, std::move(file)));
}

}  // namespace galley::store
