#include "director/host/standing_cook.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/owner/store_server.h"
#include "director/host/sandboxes.h"
#include "director/host/standing_facts.h"
#include "director/journal/generation.h"
#include "director/journal/project_home.h"
#include "director/standing/sandbox_stamps.h"
#include "director/standing/standings.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

std::string SandboxOf(const project::Project& project, const std::string& platform) {
  return Sandboxes(project, {}).PathOf(platform);
}

absl::Status Differs(std::string_view what) {
  return absl::FailedPreconditionError({what.data(), what.size()});
}

// Judge: holds one standing against today. Each step is OK, or says what differs.
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
    return RunSteps(
        {&Judge::JudgeFacts, &Judge::JudgeEnvironment, &Judge::JudgeTools, &Judge::JudgeStore});
  }

  // Stamps of today are kept: a file that was hashed now need not be hashed the next time.
  void Renew() {
    if (!has_new_tools_ && new_sources_.empty() && new_sandboxes_.empty())
      return standings_.Touch(standing_.ask);
    // (Without it the next check hashes again.)
    (void)standings_.Renew(standing_,
                           {.sources = new_sources_, .members = "", .sandboxes = new_sandboxes_});
  }

  const Standing& standing() const { return standing_; }

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
    if (JournalGeneration::Read(ask_.project.state_directory()) != standing_.generation)
      return Differs("another cook changed what is known of packages");
    return absl::OkStatus();
  }

  absl::Status JudgeEnvironment() {
    const std::string differing = DifferingFact(
        standing_.environment, EnvironmentNow(standing_.environment, ask_.environment));
    if (!differing.empty())
      return Differs(fmt::format("the environment variable {} differs", differing));
    for (const Fact& fact : standing_.environment) {
      if (ask_.ask.differing.contains(fact.name))
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

  absl::Status Check(const content::StampTable& table, std::string& renewed) {
    content::StampCheck check = table.Check({.stop = &stop_});
    if (!check.holds) return Differs(check.difference);
    renewed = std::move(check.renewed);
    return absl::OkStatus();
  }

  absl::Status JudgeSources() {
    ASSIGN_OR_RETURN(const content::StampTable table,
                     standings_.Sources(standing_.ask, standing_.source_stamps));
    return Check(table, new_sources_);
  }

  absl::Status JudgeSandboxes() {
    if (standing_.platforms.empty()) return Differs("it has no platform");
    for (const StandingPlatform& platform : standing_.platforms) {
      if (!ask_.ask.is_staged()) continue;
      ASSIGN_OR_RETURN(const content::StampTable table,
                       standings_.Sandbox(standing_.ask, platform.name, platform.sandbox_stamps));
      std::string renewed;
      RETURN_IF_ERROR(Check(table, renewed));
      if (!renewed.empty()) new_sandboxes_[platform.name] = std::move(renewed);
    }
    return absl::OkStatus();
  }

  absl::Status JudgeStore() {
    ASSIGN_OR_RETURN(store::Store* const store, ask_.store());
    ASSIGN_OR_RETURN(const store::StoreInfo info, store->Info());
    if (info.store_id != standing_.store_id) return Differs("the store is another one");
    if (info.loss_epoch != standing_.loss_epoch) return Differs("the store lost something");
    if (info.commits < standing_.store_commits) return Differs("the store is an older one");
    ASSIGN_OR_RETURN(const auto roots, store->Roots(ask_.project_id));  // newest first
    for (const StandingPlatform& platform : standing_.platforms) {
      const auto last = std::find_if(roots.begin(), roots.end(), [&](const auto& root) {
        return root.platform == platform.name;
      });
      if (last == roots.end() || last->sequence != platform.sequence || last->root != platform.root)
        return Differs(fmt::format("another root of {} was published", platform.name));
    }
    return absl::OkStatus();
  }

  const StandingAsk& ask_;
  Standings standings_;
  Standing standing_;
  Cancellation& stop_;
  bool has_new_tools_ = false;
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

void Tell(const Standing& standing, absl::Duration took, CookListener& listener) {
  std::vector<std::string> platforms;
  for (const StandingPlatform& platform : standing.platforms) platforms.push_back(platform.name);
  listener.OnPlatforms(platforms);
  listener.Scanned({.files = standing.counts.files,
                    .packages = standing.counts.packages,
                    .unmatched = standing.counts.unmatched,
                    .seconds = absl::ToDoubleSeconds(took)});
  listener.Stands({.packages = standing.counts.in_cook,
                   .failed = standing.counts.failed,
                   .results = standing.counts.results,
                   .seconds = absl::ToDoubleSeconds(took)});
  TellAgain(standing, listener);
}

// Why another cook of the same might come to something else; empty: it would not.
std::string WhyItDoesNotStand(const CookNotes& notes, const CookReport& report) {
  if (!report.end.ok() || !report.outcome.has_value()) return "the cook did not end well";
  const ShellOutcome& outcome = *report.outcome;
  const CookEnded& ended = outcome.ended;
  if (ended.is_interrupted || ended.is_fail_fast || !ended.infrastructure_error.empty() ||
      !outcome.refusal.empty() || report.stage_failed)
    return "the cook did not end well";
  if (!notes.told().stands() || outcome.lost_blobs > 0)
    return "something was told that is of this cook alone";
  if (outcome.world == nullptr || outcome.world->table->has_unread_sidecars())
    return "a sidecar could not be read";
  if (outcome.observed.has_conflict()) return "a tool or a variable changed while it ran";
  for (const std::string& platform : notes.platforms()) {
    if (!outcome.roots.contains(platform) || !report.sequences.contains(platform))
      return fmt::format("{} has no root", platform);
  }
  return "";
}

StandingCounts CountsOf(const CookNotes& notes, const Counters& counters) {
  const ScanCounts& scanned = notes.told().scanned();
  return {
      .files = scanned.files,
      .packages = scanned.packages,
      .unmatched = scanned.unmatched,
      .in_cook = counters.in_cook,
      .failed = counters.failed,
      .skipped = counters.skipped,
      .results = counters.results_cooked + counters.results_cached + counters.results_up_to_date,
      .results_failed = counters.results_failed};
}

}  // namespace

StandingAnswer AnswerFromStanding(const StandingAsk& ask, CookListener& listener,
                                  Cancellation& stop) {
  const absl::Time begin = absl::Now();
  const std::optional<std::string> text = TextOfAsk(ask.ask, ask.project);
  if (!text.has_value()) return {};
  std::optional<Standing> standing = Standings(ask.project.state_directory()).Find(*text);
  if (!standing.has_value()) return {};
  Judge judge(ask, *std::move(standing), stop);
  if (const absl::Status judged = judge.Run(); !judged.ok())
    return {.difference = std::string(MessageOf(judged))};
  judge.Renew();
  const absl::Duration took = absl::Now() - begin;
  Tell(judge.standing(), took, listener);
  return {.report = ReportOf(judge.standing(), took)};
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

StandingAnswer AnswerCold(const ColdAsk& ask, CookListener& listener, Cancellation& stop) {
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
  return AnswerFromStanding({.ask = ask.ask,
                             .project = ask.project,
                             .cookers = *cookers,
                             .environment = ask.environment,
                             .project_id = home.project_id,
                             .store = open},
                            listener, stop);
}

namespace {

// What results observed that were not looked at.
void AddObservedBefore(const Standing& before, Standing& standing) {
  const auto less = [](const auto& a, const auto& b) { return a.name < b.name; };
  for (const Fact& fact : before.environment) {
    if (!std::binary_search(standing.environment.begin(), standing.environment.end(), fact, less))
      standing.environment.insert(
          std::lower_bound(standing.environment.begin(), standing.environment.end(), fact, less),
          fact);
  }
  for (const StandingTool& tool : before.tools) {
    const auto is_it = [&](const StandingTool& one) { return one.path == tool.path; };
    if (std::none_of(standing.tools.begin(), standing.tools.end(), is_it))
      standing.tools.push_back(tool);
  }
}

}  // namespace

absl::Status KeepStanding(const StandingAsk& ask, content::Snapshot& sources,
                          const CookNotes& notes, const CookReport& report, std::string members,
                          const Standing* before, Journal& journal) {
  CookAsk of_same = ask.ask;
  of_same.force = of_same.retry_failed = false;
  const std::optional<std::string> text = TextOfAsk(of_same, ask.project);
  if (!text.has_value()) return Differs("such a cook is never answered from what stands");
  if (const std::string why = WhyItDoesNotStand(notes, report); !why.empty()) return Differs(why);
  const ShellOutcome& outcome = *report.outcome;
  Standing standing{.ask = *text,
                    .environment = EnvironmentFacts(outcome.observed),
                    .warnings = notes.told().warnings(),
                    .failures = notes.told().failures(),
                    .counts = CountsOf(notes, outcome.counters),
                    .snapshot = report.snapshot};
  ASSIGN_OR_RETURN(standing.facts, FactsOf(ask.project, ask.cookers));
  ASSIGN_OR_RETURN(standing.tools, ToolsOf(outcome.observed, ask.project.root));
  if (before != nullptr) AddObservedBefore(*before, standing);
  standing.base_table = journal.meta().table_id;
  ASSIGN_OR_RETURN(standing.generation, journal.RelyOnGeneration());
  // (A result that was not sent yet is sent by the next cook.)
  ASSIGN_OR_RETURN(const std::vector<UnsentResult> unsent, journal.Unsent());
  if (!unsent.empty()) return Differs("results were not sent to the remote store yet");
  ASSIGN_OR_RETURN(store::Store* const store, ask.store());
  ASSIGN_OR_RETURN(const store::StoreInfo info, store->Info());
  // Bytes that the store lost since are the next cook's to make again.
  if (info.loss_epoch != outcome.loss_epoch) return Differs("the store lost something meanwhile");
  standing.store_id = info.store_id;
  standing.loss_epoch = info.loss_epoch;
  standing.store_commits = info.commits;
  StandingTables tables{.sources = "", .members = std::move(members), .sandboxes = {}};
  ASSIGN_OR_RETURN(tables.sources, sources.Stamps());
  for (const std::string& platform : notes.platforms()) {
    const Digest& root = outcome.roots.at(platform);
    standing.platforms.push_back(
        {.name = platform, .root = root, .sequence = report.sequences.at(platform)});
    if (!ask.ask.is_staged()) continue;
    ASSIGN_OR_RETURN(tables.sandboxes[platform],
                     SandboxStamps(*store, root, SandboxOf(ask.project, platform)));
  }
  return Standings(ask.project.state_directory()).Keep(std::move(standing), tables);
}

}  // namespace galley::director
