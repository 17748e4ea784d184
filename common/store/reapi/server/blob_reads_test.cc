#include "common/store/reapi/server/blob_reads.h"

#include <string>
#include <vector>

#include "common/store/reapi/server/testing/reapi_messages.h"
#include "common/store/reapi/server/testing/resource_names.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

struct Answer {
  std::vector<std::string> pieces;
  absl::Status status;
  std::string all() const {
    std::string all;
    for (const std::string& piece : pieces) all += piece;
    return all;
  }
};

Answer Read(BlobStore& store, const ResourceName& name, int64_t offset = 0, int64_t limit = 0) {
  google::bytestream::ReadRequest request;
  request.set_resource_name(FormatResourceName(name));
  request.set_read_offset(offset);
  request.set_read_limit(limit);
  ByteStreamRead read(store, ReapiOptions{}, Caller{});
  Answer answer;
  for (Step step = read.OnMessage(request.SerializeAsString());; step = read.OnContinue()) {
    if (step.reply.has_value())
      answer.pieces.push_back(Parsed<google::bytestream::ReadResponse>(*step.reply).data());
    if (step.next != Step::Next::kContinue) {
      answer.status = step.status;
      return answer;
    }
  }
}

std::string Noise(size_t size) {
  std::string noise;
  for (int i = 0; noise.size() < size; ++i) noise += Digest::Of(std::to_string(i)).hash();
  noise.resize(size);
  return noise;
}

// A store whose blobs turn out to be wrong only at their end, like those of a large file.
class RottenAtTheEnd final : public BlobStore {
 public:
  absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest>) override {
    return std::vector<Digest>();
  }
  absl::StatusOr<Blob> Get(const Digest&) override { return absl::DataLossError("rotten"); }
  absl::Status Put(const Digest&, std::string_view) override { return absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<BlobReader>> NewReader(const Digest& digest,
                                                        uint64_t offset) override {
    return std::make_unique<Reader>(digest.size_bytes() - offset);
  }

 private:
  class Reader final : public BlobReader {
   public:
    explicit Reader(uint64_t left) : left_(left) {}
    absl::StatusOr<std::string_view> Next(size_t bytes_max) override {
      if (left_ == 0) return absl::DataLossError("rotten");
      piece_.assign(std::min<uint64_t>(left_, bytes_max), 'x');
      left_ -= piece_.size();
      return piece_;
    }

   private:
    uint64_t left_;
    std::string piece_;
  };
};

TEST(ByteStreamReadTest, ABlobComesInPieces) {
  MemoryStore store;
  const std::string bytes = Noise(2 * kReadPieceBytes + 7);
  const Digest digest = PutBytes(store, bytes);
  const Answer answer = Read(store, {.digest = digest});
  EXPECT_TRUE(answer.status.ok()) << answer.status;
  EXPECT_EQ(answer.pieces.size(), 3u);
  EXPECT_EQ(answer.all(), bytes);
  EXPECT_EQ(Read(store, {.digest = Digest()}).all(), "");
  EXPECT_TRUE(Read(store, {.digest = Digest()}).status.ok());
}

TEST(ByteStreamReadTest, OffsetAndLimitAreOfTheBlob) {
  MemoryStore store;
  const std::string bytes = Noise(kReadPieceBytes + 100);
  const ResourceName name{.digest = PutBytes(store, bytes)};
  const auto size = static_cast<int64_t>(bytes.size());
  EXPECT_EQ(Read(store, name, 5).all(), bytes.substr(5));
  EXPECT_EQ(Read(store, name, 5, 10).all(), bytes.substr(5, 10));
  EXPECT_EQ(Read(store, name, size - 3, 10).all(), bytes.substr(bytes.size() - 3));
  EXPECT_EQ(Read(store, name, 0, size - 1).all(), bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(Read(store, name, size).pieces.size(), 0u);
  EXPECT_TRUE(Read(store, name, size).status.ok());
  for (const auto& [offset, limit] : std::vector<std::pair<int64_t, int64_t>>{
           {-1, 0}, {size + 1, 0}, {0, -1}, {INT64_MIN, 0}, {INT64_MAX, 0}, {0, INT64_MIN}})
    EXPECT_TRUE(absl::IsOutOfRange(Read(store, name, offset, limit).status)) << offset;
}

TEST(ByteStreamReadTest, AnAbsentOrWrongBlobIsNotFound) {
  MemoryStore store;
  const Digest digest = PutBytes(store, "bytes");
  store.Corrupt(digest);
  EXPECT_TRUE(absl::IsNotFound(Read(store, {.digest = digest}).status));
  EXPECT_TRUE(absl::IsNotFound(Read(store, {.digest = Digest::Of("absent")}).status));
}

TEST(ByteStreamReadTest, APackedBlobIsAFrameFromItsOffsetOn) {
  MemoryStore store;
  const std::string noise = Noise(2 * kReadPieceBytes), text(100'000, 't');
  for (const std::string& bytes : {noise, text, std::string()}) {
    const ResourceName name{.compressor = Compressor::kZstd, .digest = PutBytes(store, bytes)};
    const Answer answer = Read(store, name);
    EXPECT_TRUE(answer.status.ok()) << answer.status;
    EXPECT_EQ(ZstdDecompress(answer.all(), bytes.size()).value(), bytes);
  }
  const ResourceName name{.compressor = Compressor::kZstd, .digest = Digest::Of(text)};
  EXPECT_EQ(ZstdDecompress(Read(store, name, 99'000).all(), 1000).value(), text.substr(99'000));
  EXPECT_EQ(ZstdDecompress(Read(store, name, 100'000).all(), 1000).value(), "");
  EXPECT_TRUE(absl::IsInvalidArgument(Read(store, name, 0, 5).status));
  EXPECT_TRUE(absl::IsOutOfRange(Read(store, name, 100'001).status));
}

// A client that got as many bytes as the digest says, or a whole frame, got the blob.
TEST(ByteStreamReadTest, NobodyGetsTheWholeOfWhatIsWrong) {
  RottenAtTheEnd store;
  for (const uint64_t size : {uint64_t{1}, uint64_t{kReadPieceBytes}, uint64_t{700'000}}) {
    const Digest digest = *Digest::FromHash(Digest::Of("x").hash(), size);
    const Answer plain = Read(store, {.digest = digest});
    EXPECT_TRUE(absl::IsNotFound(plain.status)) << plain.status;
    EXPECT_LT(plain.all().size(), size);
    // The same where the client asked for little.
    const Answer part = Read(store, {.digest = digest}, 0, 1);
    EXPECT_TRUE(absl::IsNotFound(part.status)) << part.status;
    EXPECT_EQ(part.all(), "");
    const Answer packed = Read(store, {.compressor = Compressor::kZstd, .digest = digest});
    EXPECT_TRUE(absl::IsNotFound(packed.status)) << packed.status;
    EXPECT_NE(ZstdDecompress(packed.all(), size).value_or("").size(), size);
  }
}

TEST(ByteStreamReadTest, OtherInstancesAreRefused) {
  MemoryStore store;
  google::bytestream::ReadRequest request;
  request.set_resource_name("other/blobs/" + PutBytes(store, "bytes").ToString());
  ByteStreamRead read(store, ReapiOptions{.instance = "main"}, Caller{});
  EXPECT_TRUE(absl::IsInvalidArgument(read.OnMessage(request.SerializeAsString()).status));
}

}  // namespace
}  // namespace galley::store
