// VerifiedBlobs over a store in a folder: the bytes that leave are those of the digest, whatever
// becomes of the store's files.
#include "director/serve/device_face/verified_blobs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/base/testing/await.h"
#include "common/store/layers/forwarding_store.h"
#include "common/store/local/layout.h"
#include "common/store/local/open.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

// CountingStore: counts the calls that read bytes, and holds them back as long as a test wants.
class CountingStore final : public store::ForwardingStore {
 public:
  explicit CountingStore(std::unique_ptr<store::Store> behind)
      : ForwardingStore(std::move(behind)) {}
  absl::StatusOr<Blob> Get(const Digest& digest) override {
    ++gets;
    return ForwardingStore::Get(digest);
  }
  absl::StatusOr<std::vector<std::optional<store::BlobLocation>>> Locate(
      std::span<const Digest> digests) override {
    ++locates;
    if (gate != nullptr) gate->WaitForNotification();
    return ForwardingStore::Locate(digests);
  }
  std::atomic<int> gets = 0, locates = 0;
  absl::Notification* gate = nullptr;
};

class VerifiedBlobsTest : public testing::Test {
 protected:
  VerifiedBlobsTest() {
    auto opened = store::OpenLocalStore(folder_.In("store"));
    GALLEY_CHECK(opened.ok());
    store_ = std::make_unique<CountingStore>(*std::move(opened));
    blobs_ = std::make_unique<VerifiedBlobs>(*store_, VerifiedBlobs::Options{.files_max = 2});
  }

  Digest Put(const std::string& bytes) {
    const Digest digest = Digest::Of(bytes);
    EXPECT_TRUE(store_->Put(digest, bytes).ok());
    EXPECT_TRUE(store_->Commit({}).ok());
    return digest;
  }
  std::string FileOf(const Digest& digest) const {
    return store::BlobFilePath(folder_.In("store"), digest);
  }
  static std::string Large(char c) { return std::string((1 << 20) + 4'711, c); }

  // The bytes as the door reads them.
  static absl::StatusOr<std::string> BytesOf(const HttpBody& body) {
    if (const auto* blob = std::get_if<Blob>(&body)) return **blob;
    const auto& source = std::get<std::shared_ptr<HttpBlobSource>>(body);
    std::string bytes(source->size_bytes(), '\0');
    if (const absl::Status read = source->ReadAt(0, {bytes.data(), bytes.size()}); !read.ok())
      return read;
    return bytes;
  }
  absl::StatusOr<std::string> Read(const Digest& digest) {
    absl::StatusOr<HttpBody> opened = absl::UnknownError("no answer");
    absl::Notification is_open;
    blobs_->Open(digest, [&](absl::StatusOr<HttpBody> body) {
      opened = std::move(body);
      is_open.Notify();
    });
    const WaitLimit limit("a blob");
    is_open.WaitForNotification();
    if (!opened.ok()) return opened.status();
    return BytesOf(*opened);
  }
  static void Overwrite(const std::string& path, const std::string& bytes) {
    ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_TRUE(WriteAll(file.get(), bytes, path).ok());
    // Two changes within a tick of the kernel's clock have one time.
    const timespec times[] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
    ASSERT_EQ(::futimens(file.get(), times), 0);
  }

  const store::TemporaryFolder folder_;
  std::unique_ptr<CountingStore> store_;
  std::unique_ptr<VerifiedBlobs> blobs_;
};

TEST_F(VerifiedBlobsTest, ASmallBlobIsFoundInMemoryOnceItWasRead) {
  const Digest digest = Put("small");
  EXPECT_EQ(blobs_->FindInMemory(digest), nullptr);
  ASSERT_TRUE(blobs_->OpenNow(digest).ok());
  const Blob bytes = blobs_->FindInMemory(digest);
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(*bytes, "small");
}

TEST_F(VerifiedBlobsTest, ASmallBlobIsReadOnce) {
  const Digest digest = Put("small");
  EXPECT_EQ(Read(digest).value_or("?"), "small");
  EXPECT_EQ(Read(digest).value_or("?"), "small");
  EXPECT_EQ(store_->gets, 1);
  EXPECT_EQ(Read(Digest()).value_or("?"), "");
}

TEST_F(VerifiedBlobsTest, TheMemoryIsBounded) {
  blobs_ =
      std::make_unique<VerifiedBlobs>(*store_, VerifiedBlobs::Options{.memory_bytes_max = 100});
  const Digest a = Put(std::string(40, 'a')), b = Put(std::string(50, 'b'));
  EXPECT_TRUE(Read(a).ok() && Read(b).ok() && Read(a).ok());
  EXPECT_EQ(store_->gets, 3);
}

TEST_F(VerifiedBlobsTest, ALargeBlobIsAnOpenFileThatIsVerifiedOnce) {
  const std::string bytes = Large('a');
  const Digest digest = Put(bytes);
  const auto first = blobs_->OpenNow(digest);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto& source = std::get<std::shared_ptr<HttpBlobSource>>(*first);
  EXPECT_EQ(source->size_bytes(), bytes.size());
  ASSERT_TRUE(source->file().has_value());
  EXPECT_EQ(source->file()->offset, 0u);
  EXPECT_TRUE(BytesOf(*first).value_or("?") == bytes);
  EXPECT_EQ(store_->locates, 1);
  const auto again = blobs_->OpenNow(digest);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(std::get<std::shared_ptr<HttpBlobSource>>(*again), source);
  EXPECT_EQ(store_->locates, 1);
}

TEST_F(VerifiedBlobsTest, BytesThatChangeOnTheDiskAreNotSent) {
  const Digest digest = Put(Large('a'));
  ASSERT_TRUE(Read(digest).ok());
  Overwrite(FileOf(digest), "b");
  const auto read = Read(digest);
  EXPECT_FALSE(read.ok());
  // The store has taken it out: the next put makes it whole.
  EXPECT_FALSE(FileExists(FileOf(digest)));
  Put(Large('a'));
  EXPECT_TRUE(Read(digest).value_or("?") == Large('a'));
}

TEST_F(VerifiedBlobsTest, AWrongFileIsNeverSent) {
  const Digest digest = Put(Large('a'));
  Overwrite(FileOf(digest), "b");
  const auto read = Read(digest);
  EXPECT_TRUE(absl::IsNotFound(read.status()) || absl::IsDataLoss(read.status())) << read.status();
}

TEST_F(VerifiedBlobsTest, ALossOfTheStoreHasTheFileVerifiedAgain) {
  const Digest digest = Put(Large('a')), other = Put(Large('b'));
  ASSERT_TRUE(Read(digest).ok());
  EXPECT_EQ(store_->locates, 1);
  Overwrite(FileOf(other), "x");
  const auto reader = store_->NewReader(other, 0);
  ASSERT_TRUE(reader.ok());
  absl::StatusOr<std::string_view> piece = std::string_view();
  do {
    piece = (*reader)->Next(1 << 20);
  } while (piece.ok() && !piece->empty());
  ASSERT_TRUE(absl::IsDataLoss(piece.status())) << piece.status();
  EXPECT_TRUE(Read(digest).ok());
  EXPECT_EQ(store_->locates, 2);
}

TEST_F(VerifiedBlobsTest, AbsentBlobsAreNotFound) {
  EXPECT_TRUE(absl::IsNotFound(Read(Digest::Of("absent")).status()));
  EXPECT_TRUE(absl::IsNotFound(Read(Digest::Of(Large('c'))).status()));
}

TEST_F(VerifiedBlobsTest, FilesThatTheStoreDroppedAreClosed) {
  const Digest digest = Put(Large('a'));
  std::weak_ptr<HttpBlobSource> source;
  {
    const auto body = blobs_->OpenNow(digest);
    ASSERT_TRUE(body.ok()) << body.status();
    source = std::get<std::shared_ptr<HttpBlobSource>>(*body);
  }
  blobs_->LetGoOfDropped();
  EXPECT_FALSE(source.expired());
  ASSERT_EQ(::unlink(FileOf(digest).c_str()), 0);
  blobs_->LetGoOfDropped();
  EXPECT_TRUE(source.expired());
}

TEST_F(VerifiedBlobsTest, OpenFilesAreBounded) {
  std::vector<std::weak_ptr<HttpBlobSource>> sources;
  for (const char c : {'a', 'b', 'c'}) {
    const auto body = blobs_->OpenNow(Put(Large(c)));
    ASSERT_TRUE(body.ok()) << body.status();
    sources.push_back(std::get<std::shared_ptr<HttpBlobSource>>(*body));
  }
  EXPECT_TRUE(sources[0].expired());
  EXPECT_FALSE(sources[1].expired() || sources[2].expired());
}

TEST_F(VerifiedBlobsTest, ManyWhoWaitForOneBlobCostOneRead) {
  const Digest digest = Put(Large('a'));
  absl::Notification gate;
  store_->gate = &gate;
  std::atomic<int> answers = 0;
  for (int i = 0; i < 100; ++i) {
    blobs_->Open(digest, [&](const absl::StatusOr<HttpBody>& body) {
      EXPECT_TRUE(body.ok());
      ++answers;
    });
  }
  gate.Notify();
  AwaitOrFail([&] { return answers == 100; }, "a hundred answers");
  EXPECT_EQ(store_->locates, 1);
}

TEST_F(VerifiedBlobsTest, NoCallbackRunsAfterItWasStopped) {
  const Digest digest = Put(Large('a'));
  absl::Notification gate;
  store_->gate = &gate;
  std::atomic<int> answers = 0;
  blobs_->Open(digest, [&](const absl::StatusOr<HttpBody>&) { ++answers; });
  AwaitOrFail([&] { return store_->locates == 1; }, "the read");
  std::thread stop([&] { blobs_->Stop(); });
  gate.Notify();
  stop.join();
  const int before = answers;
  absl::Status status;
  blobs_->Open(digest, [&](const absl::StatusOr<HttpBody>& body) { status = body.status(); });
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(answers, before);
}

TEST(VerifiedBlobsInMemoryTest, LargeBlobsInSegmentsAreReadWhole) {
  store::MemoryStore store;
  const auto segment = store.AllocateSegment();
  ASSERT_TRUE(segment.ok()) << segment.status();
  const auto written = store.WriteAsWorker(*segment, "large");
  ASSERT_TRUE(written.ok()) << written.status();
  ASSERT_TRUE(store.Commit({.blobs = {*written}}).ok());
  VerifiedBlobs blobs(store, {.small_bytes_max = 3});
  const auto body = blobs.OpenNow(Digest::Of("large"));
  ASSERT_TRUE(body.ok()) << body.status();
  EXPECT_EQ(*std::get<Blob>(*body), "large");
}

}  // namespace
}  // namespace galley::director
