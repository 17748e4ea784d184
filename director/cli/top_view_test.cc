#include "director/cli/top_view.h"

#include <sstream>

#include "gmock/gmock.h"

namespace galley::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using Key = TopView::Key;

const absl::Time kNow = absl::FromUnixSeconds(1'000);

v1::StatusAnswer Status() {
  v1::StatusAnswer status;
  status.set_project("tower");
  status.set_root("/home/ann/" + std::string(100, 'x'));
  for (const uint64_t number : {7u, 8u}) {
    v1::StatusAnswer::Cook& cook = *status.add_cooks();
    cook.set_cook(number);
    cook.set_urgency_class("nightly");
    cook.set_state("cooking");
    cook.set_what("by the book");
    cook.mutable_progress()->mutable_counters()->set_results_failed(number);
    cook.mutable_progress()->set_longest("/Game/maps/town.level");
    cook.mutable_progress()->set_longest_us(65'000'000);
  }
  for (const char* name : {"local-1", "local-2"}) {
    v1::StatusAnswer::Worker& worker = *status.add_workers();
    worker.set_name(name);
    worker.set_jobs(2);
  }
  v1::StatusAnswer::Job& job = *status.mutable_workers(1)->add_in_hand();
  job.set_package("/Game/textures/wood.png");
  job.set_given_us(997'000'000);
  return status;
}

class TopViewTest : public testing::Test {
 protected:
  std::string Draw(const TopView::Size& size = {}) {
    return view_.Draw(Status(), kNow, size, [](const std::string& package) {
      v1::PackageAnswer answer;
      answer.set_state("Load, in the hands of local-2");
      answer.set_worker(package);
      return answer;
    });
  }
  TopView view_;
};

TEST_F(TopViewTest, AWorkerIsOpenedThenItsJobThenBackAgain) {
  Draw();
  for (int i = 0; i < 9; ++i) view_.Press(Key::kDown);  // there are only four rows
  EXPECT_THAT(Draw(), HasSubstr("\n>local-2"));
  view_.Press(Key::kOpen);
  EXPECT_EQ(view_.worker(), "local-2");
  EXPECT_THAT(Draw(), HasSubstr("\n>      3 s  /Game/textures/wood.png"));
  view_.Press(Key::kOpen);
  EXPECT_EQ(view_.worker(), "");
  EXPECT_THAT(Draw(), HasSubstr("state      Load, in the hands of local-2"));
  view_.Press(Key::kOpen);  // the row leads nowhere
  view_.Press(Key::kBack);
  EXPECT_EQ(view_.worker(), "local-2");
  view_.Press(Key::kBack);
  EXPECT_THAT(Draw(), HasSubstr("\n>local-2"));
  view_.Press(Key::kBack);
  EXPECT_THAT(Draw(), HasSubstr("\n>local-2"));
  EXPECT_FALSE(view_.Press(Key::kQuit));
}

TEST_F(TopViewTest, ACookLeadsToItsLongestJob) {
  Draw();
  view_.Press(Key::kByFailed);
  EXPECT_THAT(Draw(), HasSubstr("\n>     8"));
  view_.Press(Key::kOpen);
  EXPECT_THAT(Draw(), HasSubstr("\n>longest    /Game/maps/town.level (1 min)"));
  view_.Press(Key::kOpen);
  EXPECT_THAT(Draw(), HasSubstr("\n /Game/maps/town.level\n"));
}

TEST_F(TopViewTest, NothingIsWiderOrLongerThanTheTerminalAndTheChosenRowIsInSight) {
  for (const size_t lines : {24u, 8u, 5u}) {
    for (int i = 0; i < 4; ++i) {
      std::istringstream text(Draw({.columns = 80, .lines = lines}));
      size_t count = 0;
      bool is_in_sight = false;
      for (std::string line; std::getline(text, line); ++count) {
        EXPECT_LE(line.size(), 80u);
        is_in_sight |= line.starts_with(">");
      }
      EXPECT_LT(count, lines + 0u);
      EXPECT_TRUE(is_in_sight);
      view_.Press(Key::kDown);
    }
  }
  EXPECT_THAT(Draw({.columns = 80, .lines = 24}), HasSubstr("by the book"));
}

TEST_F(TopViewTest, KeysAreKnownByWhatTheTerminalSends) {
  EXPECT_EQ(TopView::KeyOf("\x1b[A"), Key::kUp);
  EXPECT_EQ(TopView::KeyOf("\x1b"), Key::kBack);
  EXPECT_EQ(TopView::KeyOf("\r"), Key::kOpen);
  EXPECT_EQ(TopView::KeyOf("x"), Key::kNone);
}

}  // namespace
}  // namespace galley::cli
