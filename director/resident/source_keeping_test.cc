#include "director/resident/source_keeping.h"

#include <atomic>

#include "common/base/testing/await.h"
#include "common/store/interface/pins.h"
#include "common/tree/tree.h"
#include "director/shell/shell_test_world.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::SizeIs;

class SourceKeepingTest : public ShellTest {
 protected:
  void SetWorld(WorldPtr world) {
    base::MutexLock lock(mutex_);
    world_ = std::move(world);
  }
  std::unique_ptr<SourceKeeping> Begin(const SourceKeeping::Options& options) {
    return std::make_unique<SourceKeeping>(SourceKeeping::Deps{.kept = kept_,
                                                               .store = store_,
                                                               .project_id = "p1",
                                                               .world =
                                                                   [this] {
                                                                     base::MutexLock lock(mutex_);
                                                                     return world_;
                                                                   },
                                                               .is_busy =
                                                                   [this] {
                                                                     ++asked_;
                                                                     return is_busy_.load();
                                                                   }},
                                           options);
  }
  std::unique_ptr<SourceKeeping> Begin() { return Begin({.quiet = absl::ZeroDuration()}); }
  static bool AwaitFiles(const SourceKeeping& keeping, uint64_t files) {
    return AwaitOrFail(
        [&] {
          const auto progress = keeping.progress();
          return progress.has_value() && progress->is_over && progress->files_kept == files;
        },
        "the end of the pass");
  }
  bool Has(std::string_view bytes) { return store_.inner.Get(Digest::Of(bytes)).ok(); }

  KeptSources kept_{store_, {.trust_domains = {"main"}}};
  std::atomic<bool> is_busy_ = false;
  std::atomic<int> asked_ = 0;
  base::Mutex mutex_;
  WorldPtr world_ GALLEY_GUARDED_BY(mutex_);
};

TEST_F(SourceKeepingTest, AllFilesOfTheWorldAreKeptAndCounted) {
  for (int i = 0; i < 200; ++i) Write("content/" + std::to_string(i) + ".txt", std::to_string(i));
  Write("content/large.bin", std::string(3 << 20, 'x'));
  SetWorld(MakeWorld());
  const auto keeping = Begin();
  ASSERT_TRUE(AwaitFiles(*keeping, 201));
  const auto progress = keeping->progress();
  EXPECT_EQ(progress->files, 201u);
  EXPECT_EQ(progress->bytes, progress->bytes_kept);
  EXPECT_TRUE(Has("7") && Has(std::string(3 << 20, 'x')));
}

TEST_F(SourceKeepingTest, FilesAreCommittedWhileTheyAreKept) {
  for (int i = 0; i < 8; ++i)
    Write("content/" + std::to_string(i) + ".bin", std::string(1 << 20, static_cast<char>(i)));
  SetWorld(MakeWorld());
  const auto keeping =
      Begin({.quiet = absl::ZeroDuration(), .portion_bytes = 1 << 20, .commit_bytes = 2 << 20});
  ASSERT_TRUE(AwaitFiles(*keeping, 8));
  EXPECT_EQ(store_.commits, 5) << "four times two files, and at the end";
}

TEST_F(SourceKeepingTest, WithoutAWorldNothingIsSaid) {
  const auto keeping = Begin();
  EXPECT_FALSE(keeping->progress().has_value());
}

TEST_F(SourceKeepingTest, ACookGoesFirst) {
  Write("content/a.txt", "a");
  SetWorld(MakeWorld());
  is_busy_ = true;
  const auto keeping = Begin();
  AwaitOrFail([&] { return asked_ >= 3; }, "three looks whether a cook runs");
  EXPECT_FALSE(Has("a"));
  is_busy_ = false;
  EXPECT_TRUE(AwaitFiles(*keeping, 1));
}

// The thread may be anywhere when it is interrupted: the pass comes to its end all the same.
TEST_F(SourceKeepingTest, AnInterruptedPortionIsBegunAgain) {
  for (int i = 0; i < 50; ++i)
    Write("content/" + std::to_string(i) + ".bin", std::string(1 << 20, static_cast<char>(i)));
  SetWorld(MakeWorld());
  const auto keeping = Begin({.quiet = absl::ZeroDuration(), .portion_files = 3});
  for (int i = 0; i < 10'000; ++i) keeping->Interrupt();
  EXPECT_TRUE(AwaitFiles(*keeping, 50));
}

TEST_F(SourceKeepingTest, AnotherWorldIsGoneThroughToo) {
  Write("content/a.txt", "a");
  SetWorld(MakeWorld());
  const auto keeping = Begin();
  ASSERT_TRUE(AwaitFiles(*keeping, 1));
  Write("content/b.txt", "b");
  SetWorld(MakeWorld());
  EXPECT_TRUE(AwaitFiles(*keeping, 2));
  EXPECT_TRUE(Has("b"));
}

TEST_F(SourceKeepingTest, ThePinHoldsTheFilesAtTheirPaths) {
  Write("content/a.txt", "a");
  Write("content/sub/b.txt", "b");
  SetWorld(MakeWorld());
  const auto keeping = Begin({.quiet = absl::ZeroDuration(), .pin_interval = absl::ZeroDuration()});
  ASSERT_TRUE(AwaitFiles(*keeping, 2));
  const std::vector<store::Pin> pins = *store::Pins(store_);
  ASSERT_THAT(pins, SizeIs(1));
  EXPECT_EQ(pins[0].name, "sources/p1");
  const auto files =
      tree::ListTree(pins[0].root, [this](const Digest& digest) { return store_.Get(digest); });
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_THAT(*files, SizeIs(2));
  EXPECT_EQ((*files)[0].path, "Game/a.txt");
  EXPECT_EQ((*files)[1].path, "Game/sub/b.txt");
  Write("content/a.txt", "edited");
  SetWorld(MakeWorld());
  ASSERT_TRUE(AwaitOrFail([&] { return store::Pins(store_)->at(0).root != pins[0].root; },
                          "the pin of the edited files"));
}

TEST_F(SourceKeepingTest, AFullStoreIsNoEndlessWork) {
  Write("content/a.txt", "a");
  store_.put_error = absl::ResourceExhaustedError("full");
  SetWorld(MakeWorld());
  const auto keeping = Begin();
  ASSERT_TRUE(AwaitFiles(*keeping, 0));
  Write("content/b.txt", "b");
  SetWorld(MakeWorld());
  AwaitOrFail([&] { return keeping->progress()->files == 2 && keeping->progress()->is_over; },
              "the end of the second pass");
  EXPECT_EQ(kept_.TakeTrouble()->files, 2u) << "of the second pass alone";
}

}  // namespace
}  // namespace galley::director
