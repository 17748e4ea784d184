#include "director/cli/report.h"

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::cli {
namespace {

using director::CookEvent;

using nlohmann::json;
using record::WarningKind::kMeshFile;
using record::WarningKind::kShaderCompiler;
using record::WarningKind::kTextureBlockSize;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Summary MakeSummary() {
  Summary summary;
  summary.exit_code = 1;
  summary.project = "tower";
  summary.roots = {{"windows", Digest::Of("w").ToString()},
                   {"android", Digest::Of("a").ToString()}};
  summary.sequences = {{"windows", 7}};
  summary.snapshot = Digest::Of("s").ToString();
  director::Counters& c = summary.counters;
  c.in_cook = 11;
  c.loaded = 12;
  c.up_to_date = 13;
  c.failed = 14;
  c.skipped = 15;
  c.results_cooked = 21;
  c.results_cached = 22;
  c.results_up_to_date = 23;
  c.results_failed = 24;
  c.workers_started = 31;
  c.workers_lost = 32;
  c.executors_lost = 33;
  c.jobs_retried = 34;
  c.jobs_pending = 35;
  c.jobs_split = 36;
  c.bytes_read = 41;
  c.bytes_warm = 44;
  c.bytes_saved = 45;
  summary.total_s = 1.5;
  summary.scan_s = 0.25;
  summary.explore_s = 0.5;
  summary.cook_s = 0.75;
  summary.stage_s = 0.125;
  summary.bytes_stored = 42;
  summary.bytes_deduplicated = 43;
  summary.collections = {.soft_limit = 61,
                         .hard_limit = 62,
                         .package_count = 63,
                         .idle = 64,
                         .restarts = 65,
                         .pauses = 66};
  summary.warnings = {{"/Game/a.png", "windows", "no normals", "mesh-file"}};
  summary.failures = {{"/Game/x.png", "windows", "save", "truncated", Digest::Of("log").ToString(),
                       "galley.toml:5"}};
  return summary;
}

// Printed: the output of a Report.
struct Printed {
  std::string out;
  std::string error;
};
template <typename Do>
Printed Capture(const GlobalOptions& options, Do&& what) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Report report(options);
  what(report);
  report.TellMessages();
  std::fflush(stdout);
  return {testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

std::vector<json> EventsOf(const std::string& text) {
  std::vector<json> events;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    events.push_back(json::parse(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return events;
}

// The summary has every key of docs/cli.md, "The summary"; each key has a number of its own here,
// so that no key stands for another.
TEST(SummaryTest, IsWhatTheContractSays) {
  const std::string path = std::string(GALLEY_SOURCE_DIR) + "/director/cli/testdata/summary.json";
  const auto golden = ReadFile(path);
  ASSERT_TRUE(golden.ok()) << golden.status();
  EXPECT_EQ(MakeSummary().ToText(), *golden);
}

TEST(SummaryTest, HasAllKeysWhenNothingHappened) {
  const json empty = json::parse(Summary().ToText());
  const json full = json::parse(MakeSummary().ToText());
  for (const auto& [key, value] : full.items()) {
    ASSERT_TRUE(empty.contains(key)) << key;
    EXPECT_EQ(empty[key].type_name(), value.type_name()) << key;
  }
  EXPECT_EQ(empty["failures"], json::array());
  EXPECT_EQ(empty["roots"], json::object());
}

TEST(SummaryTest, TextThatIsNotUtf8DoesNotKeepItFromBeingWritten) {
  Summary summary;
  summary.failures = {{"/Game/x.png", "windows", "save", "the tool said \xff\xfe", "", ""}};
  EXPECT_THAT(json::parse(summary.ToText())["failures"][0]["error"], HasSubstr("the tool said"));
}

TEST(ReportTest, JsonEventsAreOneObjectALineAndNothingElse) {
  const GlobalOptions options{.json = true};
  director::StoredResult done;
  done.package = "/Game/a.png";
  done.platform_name = "windows";
  const Printed printed = Capture(options, [&](Report& report) {
    report.Say("scanned 3 files");
    report.Tell(CookEvent::Failed{
        "/Game/x.png",
        "windows",
        {.stage = director::Stage::kLoad, .error = "bad \xff\nbytes", .log = "d"}});
    report.Tell(CookEvent::Warned{"/Game/a.png", "windows", {kMeshFile, "no normals"}});
    report.Tell(CookEvent::Done{std::make_shared<director::StoredResult>(done),
                                director::ResultSource::kCached});
    report.Finish(MakeSummary(), true);
  });
  EXPECT_EQ(printed.error, "");
  const std::vector<json> events = EventsOf(printed.out);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0]["event"], "failure");
  EXPECT_EQ(events[0]["stage"], "load");
  EXPECT_EQ(events[1]["event"], "warning");
  EXPECT_EQ(events[1]["text"], "no normals");
  EXPECT_EQ(events[1]["kind"], "mesh-file");
  EXPECT_EQ(events[2]["event"], "done");
  EXPECT_EQ(events[2]["source"], "cached");
  EXPECT_EQ(events[3]["event"], "summary");
  EXPECT_EQ(events[3]["schema"], "galley.cook-summary.v1");
}

// Returns the output for a cook that warns of the sizes of `count` textures; `source`: the source
// of the results.
std::string NotesOf(const GlobalOptions& options, int count, director::ResultSource source) {
  return Capture(
             options,
             [&](Report& report) {
               report.platforms = {"windows", "android"};
               for (int i = 0; i < count; ++i) {
                 director::StoredResult done;
                 done.package = "/Game/" + std::to_string(i) + ".png";
                 for (const std::string& platform : report.platforms) {
                   done.platform_name = platform;
                   report.Tell(CookEvent::Warned{
                       done.package, platform, {kTextureBlockSize, std::to_string(i) + " x 66"}});
                   report.Tell(
                       CookEvent::Done{std::make_shared<director::StoredResult>(done), source});
                 }
               }
               report.Tell(CookEvent::Warned{"/Game/a.glb", "windows", {kMeshFile, "no normals"}});
               report.Finish(MakeSummary(), false);
               EXPECT_EQ(report.warnings.size(), 2u * static_cast<size_t>(count) + 1);
             })
      .error;
}

TEST(ReportTest, NotesOfOneKindAreOneLineWithTheirNumber) {
  EXPECT_EQ(NotesOf({}, 3, director::ResultSource::kCooked),
            "warning: /Game/a.glb (windows): no normals [mesh-file]\n"
            "warning: 3 packages have a size that is no multiple of their format's blocks, for "
            "example /Game/0.png; --verbose, or the summary, names all [texture-block-size]\n");
  EXPECT_EQ(NotesOf({}, 1, director::ResultSource::kCached),
            "warning: /Game/a.glb (windows): no normals [mesh-file]\n"
            "warning: /Game/0.png: 0 x 66 [texture-block-size]\n");
  EXPECT_THAT(NotesOf({.verbose = true}, 3, director::ResultSource::kCooked),
              HasSubstr("warning: /Game/2.png (windows): 2 x 66 [texture-block-size]\n"));
}

TEST(ReportTest, NotesOfWhatStandsAreOnlyCounted) {
  EXPECT_EQ(NotesOf({}, 3, director::ResultSource::kUpToDate),
            "warning: /Game/a.glb (windows): no normals [mesh-file]\n"
            "3 notes are as before; --verbose, or the summary, names them\n");
  EXPECT_THAT(NotesOf({}, 1, director::ResultSource::kUpToDate),
              HasSubstr("\n1 note is as before; --verbose, or the summary, names it\n"));
}

TEST(ReportTest, WarningsOfNoPackageAreLeftOutOrErrorsAsTheProjectSays) {
  const Printed printed = Capture(GlobalOptions{}, [&](Report& report) {
    report.warning_rules.off.set(static_cast<size_t>(record::WarningKind::kStore));
    report.warning_rules.error.set(static_cast<size_t>(record::WarningKind::kMountEmpty));
    report.Warn(record::WarningKind::kStore, "nearly full");
    EXPECT_FALSE(report.has_warning_errors());
    report.Warn(record::WarningKind::kMountEmpty, "no file");
    EXPECT_TRUE(report.has_warning_errors());
    EXPECT_THAT(report.warnings, IsEmpty());
    EXPECT_EQ(report.Failures().size(), 1u);
  });
  EXPECT_EQ(printed.error,
            "error: no file [mount-empty], which is an error here ([warnings] error)\n");
}

TEST(ReportTest, PluralsAreRightAndResultsAreCountedByThemselves) {
  const auto text_of = [](uint64_t count) {
    Summary summary;
    summary.counters.in_cook = count;
    summary.counters.results_cooked = 2 * count;
    summary.counters.results_cached = count;
    return Capture(GlobalOptions{},
                   [&](Report& report) {
                     report.Tell(CookEvent::Scanned{.files = count, .packages = count});
                     report.Tell(CookEvent::Stands{.packages = count});
                     report.Finish(summary, true);
                   })
        .error;
  };
  EXPECT_THAT(text_of(1), HasSubstr("scanned 1 file, 1 package ("));
  EXPECT_THAT(text_of(1), HasSubstr("nothing changed: 1 package stands ("));
  EXPECT_THAT(text_of(1),
              HasSubstr("1 package in the cook, 3 results: 2 cooked, 1 cached, 0 up to date, 0 f"));
  EXPECT_THAT(text_of(2), HasSubstr("scanned 2 files, 2 packages ("));
  EXPECT_THAT(text_of(2), HasSubstr("nothing changed: 2 packages stand ("));
  EXPECT_THAT(text_of(2), HasSubstr("2 packages in the cook, 6 results: 4 cooked, 2 cached"));
  EXPECT_THAT(Report::TextOf({.workers_attached = 1}, {}), HasSubstr(", 1 worker, "));
}

TEST(ReportTest, StoreCatIsNamedOnlyWithALog) {
  Summary summary = MakeSummary();
  const auto text_of = [&] {
    return Capture(GlobalOptions{}, [&](Report& report) { report.Finish(summary, true); }).error;
  };
  EXPECT_THAT(text_of(), HasSubstr("1 result failed; `galley why PACKAGE` explains, `galley store "
                                   "cat " +
                                   Digest::Of("log").ToString() + "` prints the log\n"));
  summary.failures[0].log = "";
  EXPECT_THAT(text_of(), HasSubstr("1 result failed; `galley why PACKAGE` explains\n"));
}

TEST(ReportTest, AFailureOfAllPlatformsIsOneLineForPeopleAndOneEntryForEach) {
  const GlobalOptions options{.quiet = true};
  const Printed printed = Capture(options, [&](Report& report) {
    report.platforms = {"windows", "android"};
    report.Tell(CookEvent::Warned{"/Game/a.png", "", {kMeshFile, "no normals"}});
    report.Tell(CookEvent::Failed{
        "/Game/x.png", "", {.stage = director::Stage::kRequest, .error = "no such file"}});
    EXPECT_THAT(report.warnings,
                ElementsAre(SummaryWarning{"/Game/a.png", "", "no normals", "mesh-file"}));
    EXPECT_THAT(
        report.Failures(),
        ElementsAre(SummaryFailure{"/Game/x.png", "android", "request", "no such file", "", ""},
                    SummaryFailure{"/Game/x.png", "windows", "request", "no such file", "", ""}));
    report.Finish(MakeSummary(), true);
  });
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(printed.error, "error: /Game/x.png: no such file\n")
      << "errors are told even when quiet, and nothing else is";
}

TEST(ReportTest, WhatWasLoadedForWhatWasSavedIsALineWhereSomethingWas) {
  Summary summary = MakeSummary();
  summary.counters.bytes_read = 3 << 10;
  summary.counters.bytes_warm = 1 << 10;
  summary.counters.bytes_saved = 5 << 20;
  const auto text_of = [&] {
    return Capture(GlobalOptions{}, [&](Report& report) { report.Finish(summary, true); }).error;
  };
  EXPECT_THAT(text_of(), HasSubstr("\n  loaded 4.0 KiB, 1.0 KiB of it warm, to save 5.0 MiB\n"));
  summary.counters.bytes_saved = 0;
  EXPECT_THAT(text_of(), Not(HasSubstr("loaded")));
}

TEST(ReportTest, WorkersOnTheirWayAreInTheLine) {
  director::Progress progress;
  progress.on_the_way = {.launcher = "slurm", .asked_for = 1, .queued = 3, .starting = 2};
  EXPECT_THAT(Report::TextOf({}, progress),
              HasSubstr("0 workers, 1 asked for, 3 queued in Slurm, 2 starting, 0/s"));
  progress.on_the_way = {.launcher = "command", .queued = 3};
  EXPECT_THAT(Report::TextOf({.workers_attached = 2}, progress),
              HasSubstr("2 workers, 3 queued, 0/s"));
  progress.on_the_way = {};
  EXPECT_THAT(Report::TextOf({}, progress), HasSubstr("0 workers, 0/s"));
}

TEST(ReportTest, ElsewhereThanOnATerminalLinesArePlain) {
  const GlobalOptions options;
  const Printed printed = Capture(options, [&](Report& report) {
    report.Tell(CookEvent::Progressed{{}, {}});  // no live line, and no plain line so soon
    report.Tell(CookEvent::Failed{"/Game/x.png", "windows", {.error = "truncated"}});
    report.Tell(CookEvent::Warned{"/Game/a.png", "windows", {kMeshFile, "no normals"}});
    report.Warn(record::WarningKind::kStore, "the store is nearly full");
    report.Finish(MakeSummary(), true);
  });
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.error, testing::StartsWith("error: /Game/x.png (windows): truncated\n"
                                                 "warning: /Game/a.png (windows): no normals "
                                                 "[mesh-file]\n"
                                                 "warning: the store is nearly full [store]\n"));
  EXPECT_THAT(printed.error, HasSubstr("21 cooked, 22 cached, 23 up to date, 24 failed"));
  EXPECT_THAT(printed.error, HasSubstr("\n  windows#7    " + Digest::Of("w").ToString()));
  EXPECT_THAT(printed.error, HasSubstr("\n  android      " + Digest::Of("a").ToString()));
  EXPECT_THAT(printed.error, Not(HasSubstr("\x1b")));
}

TEST(ReportTest, AVerdictNamesTheCookerTheRuleAndTheFile) {
  const GlobalOptions options;
  const Printed printed = Capture(options, [&](Report& report) {
    report.choice_of = [](const std::string&) {
      return project::CookerChoice{"shader", "galley.toml:52"};
    };
    report.file_of_place = [](const std::string& package, std::string_view name) {
      return name == "source" ? std::optional("content" + package) : std::nullopt;
    };
    report.Tell(CookEvent::Failed{"/lit.frag",
                                  "windows",
                                  {.error = "ERROR: source:12: 'x' : undeclared",
                                   .cause = director::FailureCause::kVerdict}});
    report.Tell(CookEvent::Failed{"/no.frag", "windows", {.error = "no such file"}});
    report.Tell(
        CookEvent::Warned{"/lit.frag", "windows", {kShaderCompiler, "WARNING: source:3: y"}});
    EXPECT_EQ(report.Failures()[0].rule, "galley.toml:52");
    EXPECT_EQ(report.Failures()[0].error, "ERROR: content/lit.frag:12: 'x' : undeclared");
    EXPECT_EQ(report.Failures()[1].rule, "") << "no cooker had a say";
    EXPECT_EQ(report.warnings[0].text, "WARNING: content/lit.frag:3: y");
  });
  EXPECT_EQ(printed.error,
            "error: /lit.frag (windows; shader by galley.toml:52): ERROR: content/lit.frag:12: 'x' "
            ": undeclared\nerror: /no.frag (windows): no such file\n"
            "warning: /lit.frag (windows): WARNING: content/lit.frag:3: y [shader-compiler]\n");
}

TEST(ReportTest, ManyEqualFailuresAreOneForPeopleAndEachIsInTheEventsAndTheSummary) {
  const auto fail = [](Report& report) {
    for (int i = 100; i < 408; ++i)
      report.Tell(CookEvent::Failed{
          "/Game/" + std::to_string(i) + ".png", "windows", {.error = "truncated"}});
    EXPECT_EQ(report.Failures().size(), 308u);
    report.Finish(MakeSummary(), true);
  };
  const Printed people = Capture(GlobalOptions{.quiet = true}, fail);
  EXPECT_THAT(people.error, HasSubstr("error: 308 packages failed alike: truncated\n"));
  EXPECT_THAT(people.error, HasSubstr("\n  and 288 more (--verbose, or the summary)\n"));
  EXPECT_EQ(std::count(people.error.begin(), people.error.end(), '\n'), 22);
  EXPECT_EQ(EventsOf(Capture(GlobalOptions{.json = true}, fail).out).size(), 309u);
  const Printed verbose = Capture(GlobalOptions{.quiet = true, .verbose = true}, fail);
  EXPECT_EQ(std::count(verbose.error.begin(), verbose.error.end(), '\n'), 308);
}

TEST(ReportTest, FailFastSaysHowManyItDidNotTry) {
  Summary summary = MakeSummary();
  summary.roots.clear();
  summary.is_fail_fast = true;
  const Printed printed =
      Capture(GlobalOptions{}, [&](Report& report) { report.Finish(summary, true); });
  EXPECT_THAT(printed.error, HasSubstr("stopped at the first failure (--fail-fast); no root was"));
  EXPECT_THAT(printed.error, HasSubstr("\n15 of the 11 packages known by then were not tried\n"));
}

TEST(ReportTest, WhatACookerSaysCannotDriveTheTerminal) {
  const GlobalOptions options;
  const Printed printed = Capture(options, [&](Report& report) {
    report.Tell(CookEvent::Failed{"/Game/x.png", "windows", {.error = "line 1\nline 2 \x1b[2J\a"}});
    report.Tell(CookEvent::Warned{"/Game/x.png", "windows", {kMeshFile, "\x1b]0;title\a"}});
  });
  EXPECT_THAT(printed.error, Not(HasSubstr("\x1b")));
  EXPECT_THAT(printed.error, Not(HasSubstr("\a")));
  EXPECT_THAT(printed.error, HasSubstr("line 1\nline 2")) << "a compiler's lines stay lines";
}

TEST(ReportTest, AFailureIsTakenBackByAResultAndWhenThePackageOrThePlatformGoes) {
  const GlobalOptions options;
  const Printed printed = Capture(options, [&](Report& report) {
    report.platforms = {"windows", "android"};
    for (const char* package : {"/a", "/b", "/c"})
      report.Tell(CookEvent::Failed{package, "", {.error = "bad"}});
    director::StoredResult done;
    done.package = "/a";
    done.platform_name = "windows";
    report.Tell(CookEvent::Done{std::make_shared<director::StoredResult>(done),
                                director::ResultSource::kCooked});
    report.Tell(CookEvent::Left{"/b"});
    report.Tell(CookEvent::Platforms{{"windows"}});
    EXPECT_THAT(report.Failures(), ElementsAre(SummaryFailure{"/c", "windows", "request", "bad"}));
    report.Tell(CookEvent::Failed{"/a", "windows", {.error = "bad"}});
    EXPECT_EQ(report.Failures().size(), 2u) << "it failed again";
    report.Finish(MakeSummary(), true);
  });
  EXPECT_THAT(printed.error, HasSubstr("galley.toml was edited: the cook is for windows now"));
  EXPECT_THAT(printed.error, HasSubstr("4 of the failures that were told are over"));
}

// A package fails twice when the store dropped an output during the cook: the missing blob is made
// again, and then everything is judged once more.
TEST(ReportTest, WhatIsToldTwiceIsTheSame) {
  GlobalOptions options;
  const Printed printed = Capture(options, [&](Report& report) {
    report.platforms = {"windows", "android"};
    for (int i = 0; i < 2; ++i)
      report.Tell(CookEvent::Failed{
          "/Game/x.png", "", {.stage = director::Stage::kLoad, .error = "refers to"}});
    report.Tell(CookEvent::Failed{
        "/Game/x.png", "", {.stage = director::Stage::kLoad, .error = "another"}});
    EXPECT_EQ(report.Failures().size(), 4u);
  });
  EXPECT_EQ(printed.error.find("refers to"), printed.error.rfind("refers to"));
}

TEST(ProgressTest, TheLineTellsRateAndTimeLeft) {
  director::Counters counters;
  counters.results_wanted = 52;
  counters.results_cooked = 20;
  counters.results_cached = 5;
  counters.results_up_to_date = 3;
  counters.results_failed = 1;
  counters.workers_attached = 2;
  director::Progress progress{.results_per_second = 70.4};
  EXPECT_EQ(Report::TextOf(counters, progress), "29/52 done, 8 cached, 1 failed, 2 workers, 70/s");
  progress.left = absl::Seconds(41.2);
  EXPECT_THAT(Report::TextOf(counters, progress), testing::EndsWith("70/s, 42 s left"));
  progress.left = absl::Seconds(200);
  EXPECT_THAT(Report::TextOf(counters, progress), testing::EndsWith(", 3 min 20 s left"));
  progress.left = absl::Minutes(125);
  EXPECT_THAT(Report::TextOf(counters, progress), testing::EndsWith(", 2 h 5 min left"));
  progress.pending = 3;
  EXPECT_THAT(Report::TextOf(counters, progress), HasSubstr(" 2 workers, 3 pending, 70/s"));
  progress.longest = "/Game/sky.hdr";
  progress.longest_for = absl::Seconds(1.9);
  EXPECT_THAT(Report::TextOf(counters, progress), Not(HasSubstr("longest")));
  progress.longest_for = absl::Seconds(61);
  EXPECT_THAT(Report::TextOf(counters, progress),
              testing::EndsWith("left, longest /Game/sky.hdr (1 min 1 s)"));
  progress.longest.clear();
  counters.results_cooked = 43;
  EXPECT_THAT(Report::TextOf(counters, progress), Not(HasSubstr("left"))) << "all is done";
  EXPECT_THAT(Report::TextOf(counters, progress, "down since 14:05"),
              testing::EndsWith("70/s, remote down since 14:05"));
}

}  // namespace
}  // namespace galley::cli
