#include "director/cli/status_text.h"

#include "director/cli/top_view.h"
#include "gmock/gmock.h"

namespace galley::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const absl::Time kStatusNow = absl::FromUnixSeconds(10'000);

v1::StatusAnswer WithLastCooks() {
  v1::StatusAnswer status;
  status.set_project("tower");
  v1::EndedCook& refused = *status.add_last_cooks();
  refused.set_urgency_class("commit");
  refused.set_what("/Game/a.png");
  refused.set_asked_by("galley anna at 10.0.0.3");
  refused.set_started_us(9'980'000'000);
  refused.set_took_us(1'500'000);
  refused.set_exit_code(2);
  refused.set_why("galley.toml:3:\nno such key");
  v1::EndedCook& failed = *status.add_last_cooks();
  failed.set_cook(7);
  failed.set_urgency_class("nightly");
  failed.set_what("by the book");
  failed.set_asked_by("olga, process 12");
  failed.set_started_us(9'000'000'000);
  failed.set_took_us(100'000'000);
  failed.set_cooked(4);
  failed.set_cached(30);
  failed.set_failed(1);
  failed.set_exit_code(1);
  return status;
}

TEST(StatusTextTest, TheLastCooksHaveClassCountsSecondsAndWhoAsked) {
  const std::string text = StatusText(WithLastCooks(), kStatusNow, 400);
  EXPECT_THAT(
      text, HasSubstr("  LAST CLASS   EXIT   COOKED   CACHED FAILED  SECONDS      ENDED  WHAT\n"));
  EXPECT_THAT(text, HasSubstr("     7 nightly    1        4       30      1    100.0 15 min ago  "
                              "by the book, by olga, process 12\n"));
  EXPECT_THAT(text, HasSubstr("     - commit     2        0        0      0      1.5   18 s ago  "
                              "/Game/a.png, by galley anna at 10.0.0.3: galley.toml:3:"));
  EXPECT_THAT(text, Not(HasSubstr("\nno such key"))) << "a line each";
  EXPECT_THAT(StatusText(v1::StatusAnswer(), kStatusNow, 400), Not(HasSubstr("LAST")));
}

TEST(StatusTextTest, TopShowsThemToo) {
  TopView view;
  const std::string drawn =
      view.Draw(WithLastCooks(), kStatusNow, {.columns = 200, .lines = 24},
                [](const std::string&) { return absl::NotFoundError("none"); });
  EXPECT_THAT(drawn, HasSubstr("by the book, by olga, process 12"));
}

TEST(StatusTextTest, ProgramsReadThemToo) {
  const nlohmann::json last = StatusJson(WithLastCooks())["last_cooks"];
  ASSERT_EQ(last.size(), 2u);
  EXPECT_TRUE(last[0]["cook"].is_null());
  EXPECT_EQ(last[0]["why"], "galley.toml:3:\nno such key");
  EXPECT_EQ(last[1]["cook"], 7);
  EXPECT_EQ(last[1]["class"], "nightly");
  EXPECT_EQ(last[1]["cooked"], 4);
  EXPECT_EQ(last[1]["cached"], 30);
  EXPECT_EQ(last[1]["failed"], 1);
  EXPECT_EQ(last[1]["seconds"], 100.0);
  EXPECT_EQ(last[1]["asked_by"], "olga, process 12");
  EXPECT_EQ(last[1]["exit_code"], 1);
  EXPECT_TRUE(last[1]["why"].is_null());
}

TEST(StatusTextTest, HowMuchOfTheWorldIsKeptIsSaidIfItIs) {
  v1::StatusAnswer status = WithLastCooks();
  EXPECT_THAT(StatusText(status, kStatusNow, 400), Not(HasSubstr("sources kept")));
  EXPECT_TRUE(StatusJson(status)["store"]["kept_sources"].is_null());
  v1::StatusAnswer::KeptSources& kept = *status.mutable_store()->mutable_kept_sources();
  kept.set_files(1'020'000);
  kept.set_files_kept(12'345);
  kept.set_bytes(3'650'722'202);
  kept.set_bytes_kept(1'288'490'189);
  EXPECT_THAT(StatusText(status, kStatusNow, 400),
              HasSubstr("\nsources kept: 12,345 of 1,020,000 files (1.2 of 3.4 GiB)\n"));
  EXPECT_EQ(StatusJson(status)["store"]["kept_sources"]["files_kept"], 12'345);
  kept.set_files_kept(7);
  kept.set_bytes_kept(512);
  EXPECT_THAT(StatusText(status, kStatusNow, 400),
              HasSubstr("sources kept: 7 of 1,020,000 files (512 B of 3.4 GiB)\n"));
}

TEST(StatusTextTest, TheAddressForDevicesIsSaidIfThereIsOne) {
  v1::StatusAnswer status = WithLastCooks();
  EXPECT_THAT(StatusText(status, kStatusNow, 400), Not(HasSubstr("devices:")));
  EXPECT_TRUE(StatusJson(status)["devices"].is_null());
  status.mutable_devices()->set_url("http://127.0.0.1:8080");
  status.mutable_devices()->set_connections(1'200);
  status.mutable_devices()->set_streams(3);
  EXPECT_THAT(
      StatusText(status, kStatusNow, 400),
      HasSubstr(
          "\ndevices: http://127.0.0.1:8080; open connections: 1,200, streams of changes: 3\n"));
  EXPECT_EQ(StatusJson(status)["devices"]["connections"], 1'200);
}

TEST(StatusTextTest, WhatWasCookedAheadHasItsHitRateOnceThatIsKnown) {
  v1::StatusAnswer status = WithLastCooks();
  status.mutable_devices()->set_url("http://127.0.0.1:8080");
  EXPECT_THAT(StatusText(status, kStatusNow, 400), Not(HasSubstr("cooked ahead")));
  EXPECT_TRUE(StatusJson(status)["devices"]["ahead"].is_null());
  v1::StatusAnswer::Ahead& ahead = *status.mutable_devices()->mutable_ahead();
  ahead.set_made(1'020);
  ahead.set_unasked(1'020);
  ahead.set_waiting(3);
  ahead.set_open(2);
  EXPECT_THAT(StatusText(status, kStatusNow, 400),
              HasSubstr("\ncooked ahead: 1,020; asked for later: 0, for nothing: 0, not known yet: "
                        "1,020; to come: 5\n"));
  EXPECT_TRUE(StatusJson(status)["devices"]["ahead"]["hit_rate"].is_null());
  ahead.set_hits(19);
  ahead.set_wasted(1);
  ahead.set_unasked(1'000);
  ahead.set_pause("the workers rest");
  EXPECT_THAT(
      StatusText(status, kStatusNow, 400),
      HasSubstr("asked for later: 19, for nothing: 1, not known yet: 1,000 (hit rate 95 %); "
                "to come: 5; pauses: the workers rest\n"));
  EXPECT_EQ(StatusJson(status)["devices"]["ahead"]["hit_rate"], 0.95);
  EXPECT_EQ(StatusJson(status)["devices"]["ahead"]["pause"], "the workers rest");
}

TEST(StatusTextTest, ACommandThatHostsItsOwnCookIsNamed) {
  v1::StatusAnswer status = WithLastCooks();
  status.set_is_hosted(true);
  status.set_process(42);
  status.add_cooks()->set_state("scanning");
  EXPECT_THAT(HeadLine(status, kStatusNow),
              HasSubstr("process 42 (`galley cook`, for its own cook)"));
  EXPECT_THAT(CookRow(status.cooks(0), kStatusNow), testing::StartsWith("     - "));
  EXPECT_TRUE(StatusJson(status)["hosted"].get<bool>());
}

TEST(StatusTextTest, HowTheLastCookEndedIsOneSentence) {
  EXPECT_EQ(EndText(WithLastCooks().last_cooks(1), kStatusNow),
            "cook 7 ended 15 min ago: exit 1, 4 cooked, 30 cached, 1 failed");
  EXPECT_THAT(EndText(WithLastCooks().last_cooks(0), kStatusNow),
              testing::StartsWith("a cook ended 18 s ago: exit 2, 0 cooked"));
}

}  // namespace
}  // namespace galley::cli
