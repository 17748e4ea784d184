// CoreHarness: a shell for CookCore that a test drives, one event at a time. The project is a text.
//
//   Town -> Mesh Tree?   refers hard to Mesh, softly to Tree
//   Town : a b           generates Town/_gen/a and Town/_gen/b
//   Town ! text          its cook is a verdict
//   Town @never          is never cooked
//   Town @gpu            needs the resource gpu
//   Town @on win gpu=2   needs a machine with the label win and two of the resource gpu
//   Town @warns KIND     its results have a warning of this kind
//   Town @strict KIND    such warnings of it are errors
//   Town % sound         its cooker is sound
//   Town % tool bake     its cooker is tool, and starts the programs bake; behind them "~ 900"
//   Town < Mesh          its results were made of an output of Mesh
//   Town @culture X de=Y X is its variant for the cultures of the project, and Y for de
//   Town ~ 900           has a source of 900 bytes, which it costs as many microseconds to cook
//                        until a job of its cooker was measured
//   Town = w around      its work is equal to that of all that have w; with the same around (a
//                        word, or none) so is the result, which look-ups find once it is committed,
//                        and a failure by a limit, which they find as soon as it is told
//
// The source of Town is content/Town. Other look-ups miss, commits succeed, workers attach and
// roots are built at once, unless the test holds them (hold_*) and answers itself. Jobs are the
// test's: it asks JobOf, answers with Saved, Failed, ..., or lets Work do all that are open.
//
// Everything that the core says to people and workers is a log of lines like these:
//
//   start Town 0, cancel Town, retract Town (and "of" a mask of platforms)
//   done Town, warned ..., failed Town: text (and "log=" its log)
//   blamed Town 1: crashed its executor: text
//   quarantined 2 for Town, unlike m1 and m3; unproven: Mesh (a foreign worker, by its number)
//   held 0: why, held all of m1: why, used again 0 (workers by their number in their pool)
//   ended 0: why (a worker that broke the protocol)
//   spawn 0, stop 0, rescan a b
//   root Mesh Town, publish 0, ended interrupted
//   ask 1: done ("done, cooked" if a job ran for it), ask 1: failed: text
//   ask 1: text (the director cannot go on)
//
// When several cooks may run at once, lines say which cooks they are for: "done Town [1 2]".
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "director/core/cook_core.h"

namespace galley::director {

// Workers on other machines.
inline constexpr WorkerId kFar(kForeignWorkers), kFarther(kForeignWorkers + 1),
    kFarthest(kForeignWorkers + 2);
// A worker of term 1, and the attempt that it was given then.
inline constexpr WorkerId kOld(3);
inline constexpr AttemptId kGiven = AttemptId{1} << 40 | 7;

struct TextPackage {
  std::vector<record::Reference> references;
  std::vector<record::Generated> generated;
  std::string verdict;
  std::string work, around;
  std::vector<std::string> warnings;  // as a result keeps them
  record::WarningRules rules;
  std::vector<std::string> inputs;
  std::vector<std::pair<std::string, std::string>> variants;  // culture ("": the project's), name
  CatalogEntry entry;
};

class TextProject : public Catalog {
 public:
  explicit TextProject(const std::string& text);
  std::optional<CatalogEntry> Find(std::string_view name) const override;
  std::optional<std::string> NameOfFile(std::string_view file) const override;
  CatalogEntry Generated(std::string_view, std::string_view, std::string_view) const override {
    return {};
  }
  ReferenceTarget Resolve(std::string_view, std::string_view written) const override;
  std::vector<std::string> VariantsOf(std::string_view name,
                                      const Cultures& cultures) const override;
  record::WarningRules WarningRulesOf(std::string_view name) const override {
    return At(std::string(name)).rules;
  }
  const TextPackage& At(const std::string& name) const;

 private:
  std::map<std::string, TextPackage> packages_;
  TextPackage generated_;
};

struct HarnessJob {
  WorkerId worker;
  Desire::Start start;
};

// The answer to `asked`: no blob is lost, and no outputs are in conflict.
RootBuilt WholeRoot(const BuildRoot& asked);
size_t CountOf(std::string_view part, std::string_view text);

class CoreHarness {
 public:
  explicit CoreHarness(const std::string& project, CookOptions options = {});

  void Request(const std::vector<std::string>& selected, CookRequested request = {});
  void Send(const Event& event);
  // Asks for the package on one platform, with this number.
  void Ask(uint64_t ask, const std::string& name, PlatformIndex platform = 0) {
    Send(PackageAsked{ask, name, platform});
  }
  void AskAhead(uint64_t ask, const std::string& name, PlatformIndex platform = 0) {
    Send(PackageAsked{ask, name, platform, /*is_ahead=*/true});
  }
  // Sends the events one after the other, without the Ticks that the core asks for in between.
  void SendAtOnce(const std::vector<Event>& events);
  // Time goes on, in steps of a second.
  void Pass(absl::Duration duration);
  // Finish saves all open jobs, and those that follow, until the cook is over. Work saves the open
  // jobs.
  void Finish();
  void Work();

  // The last hand-over of this package. REQUIRES: there was one.
  const HarnessJob& JobOf(const std::string& name) const;
  bool HasOpenJob(const std::string& name) const;
  // Returns the hand-overs since the last call.
  std::vector<HarnessJob> TakeJobs();
  // Loaded, Saved, Failed and Report answer the last hand-over of the package, or the given one,
  // and return the number of their report.
  ReportId Loaded(const std::string& name);
  ReportId Saved(const std::string& name, PlatformIndex platform = 0, bool is_current = true);
  ReportId Saved(const HarnessJob& job, PlatformIndex platform = 0, bool is_current = true);
  ReportId Failed(const std::string& name, WorkerReport::Fault fault,
                  const std::string& error = "why");
  ReportId Report(const HarnessJob& job, decltype(WorkerReport::what) what,
                  WorkerReport::Bytes bytes = {});
  // Sends the same report once more.
  void Resend(ReportId report);
  void ChangeProject(const std::string& project);
  // `output`: the bytes of the output; empty: the result has no output.
  ResultViewPtr MakeResult(const std::string& name, const std::string& output = "");

  std::string TakeLog();
  bool Says(const std::string& part) const { return log_.find(part) != std::string::npos; }
  CookCore& core() { return *core_; }
  std::shared_ptr<const Catalog> project() const { return project_; }
  PackageId Id(const std::string& name) const { return core_->Find(name); }
  std::string StateOf(const std::string& name) const { return core_->StateText(Id(name)); }
  // The package's state, as QueryAsked tells people.
  std::string TellState(const std::string& name) {
    Send(QueryAsked{.package = name});
    return replies.back().package->state;
  }
  static WorkId WorkOf(const std::string& work, PlatformIndex platform);
  const std::set<ReportId>& acknowledged() const { return acknowledged_; }

  bool hold_look_ups = false, hold_commits = false, hold_workers = false, hold_roots = false,
       hold_publish = false, hold_stages = false, hold_looks = false;
  std::deque<LookUp::Item> look_ups;
  std::deque<Persist::Item> commits;
  uint32_t urgent_persists = 0;
  std::deque<WorkerId> spawned;
  std::vector<absl::Duration> spawn_delays;
  std::deque<BuildRoot> roots;
  std::deque<PublishRoot> publishes;
  std::deque<StageRoots> stages;
  std::deque<LookForLost> looks_for_lost;
  std::vector<Reply> replies;
  uint32_t slots = 4;

 private:
  LookedUp::Item Answer(const LookUp::Item& question, PlatformIndex platform);
  void Do(const Reply& effect) { replies.push_back(effect); }
  void Do(const LookUp& effect);
  void Do(const Desire& effect);
  void Do(const Spawn& effect);
  void Do(const Stop& effect);
  void Do(const Persist& effect);
  void Do(const Rescan& effect);
  void Do(const BuildRoot& effect);
  void Do(const PublishRoot& effect);
  void Do(const StageRoots& effect);
  void Do(const LookForLost& effect);
  void Do(const Notify& effect);
  std::string Listeners(CookMask cooks) const;
  void Say(const std::string& line) { log_ += line + "\n"; }

  std::shared_ptr<const TextProject> project_;
  std::unique_ptr<CookCore> core_;
  absl::Time now_ = absl::UnixEpoch();
  std::deque<Event> inbox_;
  bool is_sending_ = false;
  bool has_ended_ = false;
  std::string log_;
  std::vector<HarnessJob> jobs_;
  size_t jobs_taken_ = 0;
  std::set<AttemptId> answered_;
  std::map<ReportId, WorkerReported> reports_;
  std::set<ReportId> acknowledged_;
  uint32_t results_ = 0;
  std::set<std::tuple<std::string, std::string, PlatformIndex>> cache_;  // work, around
  std::map<std::pair<std::string, std::string>, std::string> limits_;    // work, around: the error
  const bool takes_several_;
  std::map<CookSlot, uint64_t> cooks_;
  PlatformMask platforms_ = 1;
};

}  // namespace galley::director
