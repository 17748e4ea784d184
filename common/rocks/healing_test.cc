#include "common/rocks/healing.h"

#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::rocks {
namespace {

struct Numbered {
  int number = 0;
  bool is_damaged = false;

  absl::StatusOr<int> Ask(int add) {
    if (is_damaged) return absl::DataLossError("it is damaged");
    return number + add;
  }
};

class HealingNumbers final : public Healing<Numbered> {
 public:
  HealingNumbers() : Healing(std::make_shared<Numbered>()) {}
  using Healing::Current;
  using Healing::Generation;

  absl::Status error;  // for the next Remake
  bool makes_damaged = false;
  int made = 0;

 private:
  absl::Status Remake(Numbered& damaged, const absl::Status& damage) override
      GALLEY_REQUIRES(heal_mutex_) {
    EXPECT_EQ(damage, absl::DataLossError("it is damaged"));
    EXPECT_EQ(Generation(), std::nullopt);
    RETURN_IF_ERROR(error);
    ++made;
    Replace(std::make_shared<Numbered>(
        Numbered{.number = damaged.number + 100, .is_damaged = makes_damaged}));
    return absl::OkStatus();
  }
  absl::Status DescribeDamageAgain(const absl::Status& damage) override
      GALLEY_REQUIRES(heal_mutex_) {
    return absl::InternalError("again: " + MessageOf(damage));
  }
};

TEST(HealingTest, AsksTheDatabaseThatIsThere) {
  HealingNumbers numbers;
  EXPECT_EQ(*numbers.With(&Numbered::Ask, 7), 7);
  EXPECT_EQ(numbers.made, 0);
  EXPECT_EQ(numbers.Generation(), 0u);
}

TEST(HealingTest, ACallThatMeetsDamageIsAnsweredByTheNewDatabase) {
  HealingNumbers numbers;
  const std::shared_ptr<Numbered> old = numbers.Current();
  old->is_damaged = true;
  EXPECT_EQ(*numbers.With(&Numbered::Ask, 7), 107);
  EXPECT_EQ(*numbers.With(&Numbered::Ask, 8), 108);
  EXPECT_EQ(numbers.made, 1);
  EXPECT_EQ(numbers.Generation(), 1u);
}

TEST(HealingTest, AnyOtherErrorHealsNothing) {
  HealingNumbers numbers;
  const auto fail = [](Numbered&) { return absl::UnavailableError("busy"); };
  EXPECT_EQ(numbers.With(fail), absl::UnavailableError("busy"));
  EXPECT_EQ(numbers.made, 0);
}

TEST(HealingTest, DamageInTheNewDatabaseIsNotHealedAgain) {
  HealingNumbers numbers;
  numbers.Current()->is_damaged = numbers.makes_damaged = true;
  EXPECT_EQ(numbers.With(&Numbered::Ask, 7).status(), absl::InternalError("again: it is damaged"));
  EXPECT_EQ(numbers.made, 1);
}

TEST(HealingTest, WhereNoneCanBeMadeTheNextCallTriesAgain) {
  HealingNumbers numbers;
  numbers.Current()->is_damaged = true;
  numbers.error = absl::ResourceExhaustedError("no space");
  EXPECT_EQ(numbers.With(&Numbered::Ask, 7).status(), numbers.error);
  EXPECT_EQ(numbers.Generation(), std::nullopt) << "another one has to be made";
  numbers.error = absl::OkStatus();
  EXPECT_EQ(*numbers.With(&Numbered::Ask, 7), 107);
  EXPECT_EQ(numbers.Generation(), 1u);
}

TEST(HealingTest, ThreadsThatMeetTheSameDamageMakeOneDatabase) {
  HealingNumbers numbers;
  numbers.Current()->is_damaged = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { EXPECT_EQ(*numbers.With(&Numbered::Ask, 7), 107); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(numbers.made, 1);
}

}  // namespace
}  // namespace galley::rocks
