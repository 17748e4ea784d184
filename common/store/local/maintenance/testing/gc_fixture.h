// GcTest: a store with a test's clock, with cooks and collections.
#pragma once

#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/time/clock.h"
#include "common/store/local/open.h"
#include "common/store/local/sessions.h"
#include "common/store/testing/sample.h"
#include "common/tree/tree.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::store {

class GcTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    store_.reset();
    absl::StatusOr<std::unique_ptr<StoreDirectory>> store =
        OpenLocalStore(directory_, {.segment_bytes_max = segment_bytes_max_,
                                    .moved_bytes_max = moved_bytes_max_,
                                    .boot_time = [this] { return boot_; },
                                    .now =
                                        [this] {
                                          if (on_now_) on_now_();
                                          return absl::Now() + later_;
                                        },
                                    .sync = [this](int) { return on_sync_ ? on_sync_() : 0; }});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  // Lets time pass, so that sessions and uses until now count as old.
  void Pass(absl::Duration time = absl::Hours(2)) {
    boot_ += time;
    later_ += time;
  }
  // Commits a result with one output, and uses it.
  Digest Cook(const std::string& name, size_t size = 1000) {
    std::string bytes = name + std::string(size, '.');
    bytes.resize(size);
    const Digest output = PutBytes(*store_, bytes);
    EXPECT_TRUE(store_->Commit({.results = {SampleResult(name, output)}}).ok());
    Use(name);
    return output;
  }
  void Use(const std::string& name) {
    EXPECT_TRUE(ResultOf(*store_, Digest::Of(name)).has_value()) << name;
    EXPECT_TRUE(store_->Commit({}).ok());
    // The next write of the index stores the use.
    const Digest nothing = Digest::Of("nothing");
    EXPECT_TRUE(store_->Commit({.sets = {{nothing, fmt::format("{}", ++uses_)}}}).ok());
  }
  Digest Publish(const std::string& platform, const std::vector<Digest>& files,
                 uint32_t keep_roots = 0, bool by_the_book = true) {
    tree::Directory folder, root;
    for (size_t i = 0; i < files.size(); ++i)
      folder.files.push_back({.name = fmt::format("{:04}", i), .digest = files[i]});
    root.directories.push_back(
        {.name = "Game", .digest = PutBytes(*store_, tree::EncodeDirectory(folder))});
    const Digest digest = PutBytes(*store_, tree::EncodeDirectory(root));
    PublishedRoot published = SampleRoot(platform, digest);
    published.keep_roots = keep_roots;
    published.by_the_book = by_the_book;
    EXPECT_TRUE(store_->Publish(published).ok());
    return digest;
  }
  // Copies the store as a kill would leave it. RocksDB may be removing files that it no longer
  // needs.
  void Copy(const std::string& to) {
    for (std::error_code error(EAGAIN, std::generic_category()); error;) {
      std::filesystem::remove_all(to);
      std::filesystem::copy(directory_, to, std::filesystem::copy_options::recursive, error);
    }
  }
  bool Has(const Digest& digest) {
    // Reads the blob from a copy of the store, so that the store does not count it as told.
    const std::string copy = folder_.In(fmt::format("copy{}", ++copies_));
    Copy(copy);
    const auto store = OpenLocalStore(copy, {.sync = [](int) { return 0; }});
    EXPECT_TRUE(store.ok()) << store.status();
    const auto blob = (*store)->Get(digest);
    EXPECT_TRUE(blob.ok() || absl::IsNotFound(blob.status())) << blob.status();
    return blob.ok();
  }
  GcReport Collect(const GcOptions& options) {
    const auto report = store_->Collect(options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(GcReport{});
  }
  uint64_t Epoch() { return store_->Info()->loss_epoch; }

  static constexpr GcOptions kAll{.bytes_max = 0};
  const TemporaryFolder folder_;
  const std::string directory_ = folder_.In("store");
  absl::Time boot_ = BootTime();
  absl::Duration later_ = absl::ZeroDuration();
  std::function<int()> on_sync_;
  std::function<void()> on_now_;
  std::unique_ptr<StoreDirectory> store_;
  uint64_t segment_bytes_max_ = 256 << 20, moved_bytes_max_ = 512 << 20;
  int copies_ = 0, uses_ = 0;
};

}  // namespace galley::store
