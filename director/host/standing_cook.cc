#include "director/host/standing_cook.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/store/owner/store_server.h"
#include "director/host/inheritance.h"
#include "director/host/left_out_of_list.h"
#include "director/host/sandboxes.h"
#include "director/host/standing_facts.h"
#include "director/journal/generation.h"
#include "director/journal/project_home.h"
#include "director/shell/lost_files.h"
#include "director/standing/sandbox_stamps.h"
#include "director/standing/standings.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Beyond this many files a scan costs little more, and so does a cook of a difference.
constexpr size_t kChangesMax = 4096;

absl::Status Differs(std::string_view what) {
  return absl::FailedPreconditionError({what.data(), what.size()});
}

absl::StatusOr<content::StampCheck> CheckTable(
    WatchedTables* watched, const std::string& name, const std::string& id,
    const std::function<absl::StatusOr<content::StampTable>()>& open, Cancellation& stop,
    size_t changes_max, bool is_kept) {
  if (watched != nullptr) return watched->Check(name, id, open, &stop, changes_max, is_kept);
  ASSIGN_OR_RETURN(const content::StampTable table, open());
  return table.Check({.stop = &stop, .changes_max = changes_max});
}

// Judge: compares one standing with today. Each step returns OK, or says what differs.
class Judge {
 public:
  Judge(const StandingAsk& ask, Standing standing, Cancellation& stop)
      : ask_(ask),
        standings_(ask.project.state_directory()),
        standing_(std::move(standing)),
        stop_(stop) {}

  absl::Status Run() {
    return RunSteps({&Judge::JudgeFacts, &Judge::JudgeEnvironment, &Judge::JudgeTools,
                     &Judge::JudgeSources, &Judge::JudgeSandboxes, &Judge::JudgeStore});
  }
  absl::Status RunButFiles() {
    return RunSteps({&Judge::JudgeFactsButRules, &Judge::JudgeEnvironment, &Judge::JudgeTools,
                     &Judge::JudgeStore});
  }

  // Keeps today's stamps: a file that was hashed now need not be hashed the next time.
  void Renew() {
    if (!has_new_tools_ && !is_certified_anew_ && new_sources_.empty() && new_sandboxes_.empty())
      return standings_.Touch(standing_.ask);
    // Without the new stamps the next check hashes again.
    (void)standings_.Renew(standing_,
                           {.sources = new_sources_, .members = "", .sandboxes = new_sandboxes_});
  }

  const Standing& standing() const { return standing_; }
  std::optional<CheckedSources> TakeChecked() { return std::move(checked_); }

 private:
  using Step = absl::Status (Judge::*)();
  absl::Status RunSteps(std::initializer_list<Step> steps) {
    for (const Step step : steps) RETURN_IF_ERROR((this->*step)());
    return absl::OkStatus();
  }

  absl::Status JudgeFacts() {
    ASSIGN_OR_RETURN(const Facts now, FactsOf(ask_.project, ask_.cookers));
    const std::string differing = DifferingFact(standing_.facts, now);
    if (!differing.empty()) return Differs(fmt::format("{} differs", differing));
    const std::string state = ask_.project.state_directory();
    if (JournalGeneration::Read(state) == standing_.generation) return absl::OkStatus();
    const std::string why = JournalGeneration::ReadReason(state);
    return Differs(fmt::format("since the last cook of the same, {}",
                               why.empty() ? "what is known of packages changed" : why));
  }

  // Compares the facts, except that [[rule]]s may differ.
  absl::Status JudgeFactsButRules() {
    ASSIGN_OR_RETURN(const Facts now, FactsOf(ask_.project, ask_.cookers));
    for (const Fact& fact : now) {
      if (fact.name != kProjectFileFact) continue;
      const auto before = std::ranges::find_if(
          standing_.facts, [&](const Fact& one) { return one.name == fact.name; });
      if (before == standing_.facts.end()) return Differs("the project file differs");
      if (*before == fact) break;
      // The same text may be on other lines now.
      if (NamesLines()) return Differs("galley.toml differs, and people were told of its lines");
      *before = fact;
    }
    return JudgeFacts();
  }
  bool NamesLines() const {
    const auto names = [](const std::string& text) {
      return text.find(std::string(project::kProjectFile) + ":") != std::string::npos;
    };
    return std::ranges::any_of(standing_.warnings,
                               [&](const auto& one) { return names(one.text); }) ||
           std::ranges::any_of(standing_.failures,
                               [&](const auto& one) { return names(one.error); });
  }

  absl::Status JudgeEnvironment() {
    const std::string differing =
        DifferingFact(standing_.environment,
                      EnvironmentNow(standing_.environment, ask_.project, ask_.environment));
    if (!differing.empty())
      return Differs(fmt::format("the environment variable {} differs", differing));
    for (const Fact& fact : standing_.environment) {
      if (ask_.differing.contains(fact.name))
        return Differs(fmt::format("the environment variable {} differs here", fact.name));
    }
    return absl::OkStatus();
  }

  absl::Status JudgeTools() {
    for (StandingTool& tool : standing_.tools) {
      const StandingTool before = tool;
      if (const std::string differs = LookAgain(tool); !differs.empty()) return Differs(differs);
      has_new_tools_ |= before.stat != tool.stat || before.is_racy != tool.is_racy;
    }
    return absl::OkStatus();
  }

  absl::Status JudgeSources() {
    if (ask_.ask.has_changed() && ask_.ask.changed().paths().empty()) return absl::OkStatus();
    if (ask_.ask.has_changed() || !ask_.ask.changed_since().empty())
      return Differs("files are named that may have changed");
    ASSIGN_OR_RETURN(content::StampCheck check,
                     CheckSources(ask_, standing_, stop_, /*is_kept=*/true));
    if (!check.holds) {
      const std::string difference = check.difference;
      checked_ = {standing_.source_stamps, std::move(check)};
      return Differs(difference);
    }
    new_sources_ = std::move(check.renewed);
    std::vector<std::string>& touched = standing_.touched;
    touched.insert(touched.end(), check.touched.begin(), check.touched.end());
    SortUnique(touched);
    if (touched.size() > kTouchedMax) {
      standing_.has_more_touched = true;
      touched.clear();
    }
    return absl::OkStatus();
  }

  absl::Status JudgeSandboxes() {
    if (standing_.platforms.empty()) return Differs("it has no platform");
    for (const StandingPlatform& platform : standing_.platforms) {
      if (!IsStaged(ask_.ask)) continue;
      ASSIGN_OR_RETURN(content::StampCheck check,
                       CheckSandbox(ask_, standing_, platform, stop_, /*is_kept=*/true));
      if (!check.holds) return Differs(check.difference);
      if (!check.renewed.empty()) new_sandboxes_[platform.name] = std::move(check.renewed);
    }
    return absl::OkStatus();
  }

  absl::Status JudgeStore() {
    ASSIGN_OR_RETURN(store::Store* const store, ask_.store());
    ASSIGN_OR_RETURN(const store::StoreInfo info, store->Info());
    if (info.store_id != standing_.store_id) return Differs("the store is another one");
    if (info.loss_epoch != standing_.loss_epoch) RETURN_IF_ERROR(CertifyAnew(*store, info));
    if (info.commits < standing_.store_commits) return Differs("the store is an older one");
    ASSIGN_OR_RETURN(const auto roots, store->Roots(ask_.project_id));  // newest first
    for (const StandingPlatform& platform : standing_.platforms) {
      const auto last = std::ranges::find_if(
          roots, [&](const auto& root) { return root.platform == platform.name; });
      if (last == roots.end() || last->sequence != platform.sequence || last->root != platform.root)
        return Differs(fmt::format("another root of {} was published", platform.name));
    }
    return absl::OkStatus();
  }

  // Called when the store lost something: everything that stands may still be there. Results are
  // read only if a dispute has come up since. This does not work with failures: what was taken out
  // of the store may be a failure, as a dispute that somebody ended in another project.
  absl::Status CertifyAnew(store::Store& store, const store::StoreInfo& info) {
    const absl::Status lost = Differs("the store lost something");
    if (info.loss_epoch < standing_.loss_epoch || !standing_.failures.empty()) return lost;
    std::vector<Digest> keys;
    if (info.disputed_epoch > standing_.loss_epoch) {
      const auto members = standings_.MembersOf(standing_.ask, standing_.members);
      if (!members.ok()) return lost;
      keys = members->Keys();
    }
    std::vector<Digest> roots;
    for (const StandingPlatform& platform : standing_.platforms) roots.push_back(platform.root);
    ASSIGN_OR_RETURN(const bool are_whole, AreWhole(store, roots, keys));
    if (!are_whole) return lost;
    standing_.loss_epoch = info.loss_epoch;
    is_certified_anew_ = true;
    return absl::OkStatus();
  }

  const StandingAsk& ask_;
  Standings standings_;
  Standing standing_;
  Cancellation& stop_;
  bool has_new_tools_ = false;
  bool is_certified_anew_ = false;
  std::optional<CheckedSources> checked_;
  std::string new_sources_;
  std::map<std::string, std::string> new_sandboxes_;
};

CookReport ReportOf(const Standing& standing, absl::Duration took) {
  CookReport report;
  report.outcome.emplace();
  Counters& counters = report.outcome->counters;
  const StandingCounts& counts = standing.counts;
  counters.in_cook = counts.in_cook;
  counters.failed = counts.failed;
  counters.skipped = counts.skipped;
  counters.up_to_date = counts.in_cook - counts.failed - counts.skipped;
  counters.results_up_to_date = counts.results;
  counters.results_failed = counts.results_failed;
  for (const StandingPlatform& platform : standing.platforms) {
    report.outcome->roots.emplace(platform.name, platform.root);
    report.sequences.emplace(platform.name, platform.sequence);
  }
  report.snapshot = standing.snapshot;
  report.has_failures = !standing.failures.empty();
  report.is_published = true;
  report.scan = took;
  return report;
}

// Returns the number of the files that a list named; nullopt: there was no list.
std::optional<uint64_t> ListedBy(const v1::CookAsk& ask) {
  if (!ask.has_changed()) return std::nullopt;
  return static_cast<uint64_t>(ask.changed().paths_size());
}

void Tell(const Standing& standing, const v1::CookAsk& ask, absl::Duration took,
          CookEventSink& sink) {
  std::vector<std::string> platforms;
  for (const StandingPlatform& platform : standing.platforms) platforms.push_back(platform.name);
  sink.Tell(CookEvent::Platforms{platforms});
  sink.Tell(CookEvent::Scanned{.files = standing.counts.files,
                               .packages = standing.counts.packages,
                               .unmatched = standing.counts.unmatched,
                               .seconds = absl::ToDoubleSeconds(took),
                               .listed = ListedBy(ask)});
  sink.Tell(CookEvent::Stands{.packages = standing.counts.in_cook,
                              .failed = standing.counts.failed,
                              .results = standing.counts.results,
                              .seconds = absl::ToDoubleSeconds(took)});
  TellAgain(standing, sink);
}

// Notes that the journal's base has today's files. After a list nobody has looked at other files.
void NoteWhatWasLookedAt(const StandingAsk& ask, absl::Time began) {
  ListedCook last(ask.project.state_directory());
  if (!ask.ask.has_changed()) return last.Forget();
  if (const absl::Status noted = last.Note(began); !noted.ok())
    LogWarning("what the list leaves out will not be named: {}", MessageOf(noted));
}

}  // namespace

StandingAnswer AnswerFromStanding(const StandingAsk& ask, CookEventSink& sink, Cancellation& stop) {
  const absl::Time begin = absl::Now();
  const std::optional<std::string> text = TextOfAsk(ask.ask, ask.project);
  if (!text.has_value()) return {};
  std::optional<Standing> standing = Standings(ask.project.state_directory()).Find(*text);
  if (!standing.has_value()) return {};
  Judge judge(ask, *std::move(standing), stop);
  if (const absl::Status judged = judge.Run(); !judged.ok())
    return {.difference = std::string(MessageOf(judged)), .checked = judge.TakeChecked()};
  judge.Renew();
  NoteWhatWasLookedAt(ask, begin);
  const absl::Duration took = absl::Now() - begin;
  Tell(judge.standing(), ask.ask, took, sink);
  CookReport report = ReportOf(judge.standing(), took);
  report.listed = ListedBy(ask.ask);
  return {.report = std::move(report)};
}

std::string WatchedSources(const Standing& standing) {
  return fmt::format("{}\nsources", standing.ask);
}
std::string WatchedSandbox(const Standing& standing, const std::string& platform) {
  return fmt::format("{}\nsandbox {}", standing.ask, platform);
}

absl::StatusOr<content::StampCheck> CheckSources(const StandingAsk& ask, const Standing& standing,
                                                 Cancellation& stop, bool is_kept) {
  const Standings standings(ask.project.state_directory());
  return CheckTable(
      ask.watched, WatchedSources(standing), standing.source_stamps,
      [&] { return standings.Sources(standing.ask, standing.source_stamps); }, stop, kChangesMax,
      is_kept);
}

absl::StatusOr<content::StampCheck> CheckSandbox(const StandingAsk& ask, const Standing& standing,
                                                 const StandingPlatform& platform,
                                                 Cancellation& stop, bool is_kept) {
  const Standings standings(ask.project.state_directory());
  return CheckTable(
      ask.watched, WatchedSandbox(standing, platform.name), platform.sandbox_stamps,
      [&] { return standings.Sandbox(standing.ask, platform.name, platform.sandbox_stamps); }, stop,
      /*changes_max=*/0, is_kept);
}

absl::StatusOr<Standing> FindButFiles(const StandingAsk& ask, Cancellation& stop) {
  const std::optional<std::string> text = TextOfAsk(ask.ask, ask.project);
  if (!text.has_value()) return Differs("such a cook looks at all");
  std::optional<Standing> standing = Standings(ask.project.state_directory()).Find(*text);
  if (!standing.has_value()) return Differs("nothing stands");
  Judge judge(ask, *std::move(standing), stop);
  RETURN_IF_ERROR(judge.RunButFiles());
  return judge.standing();
}

StandingAnswer AnswerCold(const ColdAsk& ask, CookEventSink& sink, Cancellation& stop) {
  const std::string state = ask.project.state_directory();
  const std::optional<std::string> text = TextOfAsk(ask.ask, ask.project);
  if (!text.has_value() || !Standings(state).Find(*text).has_value()) return {};
  const auto lock = ProjectLock::TryAcquire(state);
  if (!lock.ok()) return {.difference = std::string(MessageOf(lock.status()))};
  const ProjectHome home = FindHome(state, ask.project.root);
  if (!home.copied_from.empty() || home.project_id.empty())
    return {.difference = "the project's folder is a copy of another one"};
  const auto cookers = DescribeCookers(ask.worker_program, JoinPath(state, "cookers.json"),
                                       ask.project.cook.binary_identity);
  if (!cookers.ok()) return {.difference = std::string(MessageOf(cookers.status()))};
  std::unique_ptr<store::Store> store;
  const auto open = [&]() -> absl::StatusOr<store::Store*> {
    ASSIGN_OR_RETURN(store, store::OpenOrConnect(ask.project.store.directory));
    return store.get();
  };
  StandingAnswer answer = AnswerFromStanding({.ask = ask.ask,
                                              .project = ask.project,
                                              .cookers = *cookers,
                                              .environment = ask.environment,
                                              .project_id = home.project_id,
                                              .store = open},
                                             sink, stop);
  // A director that was killed after it had kept the standing has left its workers.
  if (answer.report.has_value()) EndInheritedWorkers(state, FindInheritedWorkers(state));
  return answer;
}

}  // namespace galley::director
