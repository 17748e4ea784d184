#include "common/store/layers/quota_keeper.h"

#include <vector>

#include "common/base/testing/await.h"
#include "common/store/testing/memory_store.h"
#include "fmt/format.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A store that tells its size, and can be collected.
class SizedStore : public MemoryStore {
 public:
  absl::StatusOr<StoreStats> Stats(const StatsOptions& /*options*/) override {
    return StoreStats{.segment_bytes = 600, .file_bytes = 500};
  }
  absl::StatusOr<GcReport> Collect(const GcOptions& options) override {
    {
      const base::MutexLock lock(mutex_);
      asked_.push_back(options.bytes_max);
      called_.NotifyAll();
    }
    if (options.cancellation != nullptr && waits_) {
      options.cancellation->Pause(absl::Hours(1));
      return absl::CancelledError("interrupted");
    }
    return GcReport{.bytes = stays_, .dropped_bytes = 300, .dropped_results = 7};
  }
  void WaitForCollections(size_t count) {
    const WaitLimit limit(fmt::format("{} collections", count));
    const base::MutexLock lock(mutex_);
    while (asked_.size() < count) called_.Wait(mutex_);
  }

  base::Mutex mutex_;
  base::CondVar called_;
  std::vector<uint64_t> asked_;
  uint64_t stays_ = 800;
  bool waits_ = false;
};

class QuotaKeeperTest : public testing::Test {
 protected:
  QuotaOptions Options(uint64_t bytes_max, absl::Duration period = absl::Hours(100)) {
    return {.bytes_max = bytes_max, .period = period, .say = Say()};
  }
  std::function<void(const std::string&)> Say() {
    return [this](const std::string& text) {
      const base::MutexLock lock(mutex_);
      said_.push_back(text);
    };
  }
  base::Mutex mutex_;
  std::vector<std::string> said_;
  SizedStore store_;
};

TEST_F(QuotaKeeperTest, AStoreWithinItsSizeIsLeftAlone) {
  QuotaKeeper keeper(store_, Options(1'100));
  EXPECT_TRUE(keeper.Keep(nullptr, Say()).ok());
  EXPECT_THAT(store_.asked_, IsEmpty());
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(QuotaKeeperTest, ALargerOneIsBroughtToNineTenthsOfIt) {
  QuotaKeeper keeper(store_, Options(1'000));
  EXPECT_TRUE(keeper.Keep(nullptr, Say()).ok());
  EXPECT_THAT(store_.asked_, ElementsAre(900));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("holds 1.1 KiB, more than 1000 B"),
                                 testing::AllOf(HasSubstr("dropped 7 results and 300 B"),
                                                testing::Not(HasSubstr("has to stay")))));
}

TEST_F(QuotaKeeperTest, SaysWhenMoreHasToStay) {
  store_.stays_ = 1'050;
  QuotaKeeper keeper(store_, Options(1'000));
  EXPECT_TRUE(keeper.Keep(nullptr, Say()).ok());
  EXPECT_THAT(said_, ElementsAre(testing::_, HasSubstr("what has to stay takes 1.0 KiB")));
}

TEST_F(QuotaKeeperTest, WhoMayNotWriteCollectsNothing) {
  const absl::Status overtaken = absl::FailedPreconditionError("overtaken");
  QuotaOptions options = Options(1'000);
  options.may_collect = [&] { return overtaken; };
  QuotaKeeper keeper(store_, options);
  EXPECT_EQ(keeper.Keep(nullptr, Say()), overtaken);
  EXPECT_THAT(store_.asked_, IsEmpty());
}

TEST_F(QuotaKeeperTest, LooksAgainAndAgainInTheBackground) {
  {
    QuotaKeeper keeper(store_, Options(1'000, absl::Microseconds(1)));
    store_.WaitForCollections(3);
  }
  EXPECT_THAT(store_.asked_, AllOf(SizeIs(Ge(3u)), Each(store_.asked_.front())));
}

TEST_F(QuotaKeeperTest, ItsEndCutsOffWhatRunsInTheBackground) {
  store_.waits_ = true;
  {
    const WaitLimit limit("a keeper that ends during a collection");
    QuotaKeeper keeper(store_, Options(1'000, absl::Microseconds(1)));
    store_.WaitForCollections(1);
  }
  EXPECT_THAT(said_, ElementsAre(HasSubstr("holds"))) << "that is no failure";
}

}  // namespace
}  // namespace galley::store
