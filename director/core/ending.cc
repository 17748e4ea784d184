// The end of a cook: references are judged, roots built and published.
#include <algorithm>
#include <bit>

#include "common/base/sabotage.h"
#include "director/core/conflict_text.h"
#include "director/core/cook_core_impl.h"

namespace galley::director {
namespace {

// All hard references that lead nowhere, in one error for the platforms that have the same ones.
absl::btree_map<std::string, PlatformMask> ErrorsOf(const std::vector<Problem>& problems) {
  absl::btree_map<std::string, PlatformMask> errors;
  PlatformMask all = 0;
  for (const Problem& problem : problems) all |= problem.platforms;
  for (; all != 0; all &= all - 1) {
    const PlatformMask platform = all & ~(all - 1);
    absl::btree_set<std::string> texts;
    for (const Problem& problem : problems) {
      if (problem.kind == record::ReferenceKind::kHard && (problem.platforms & platform) != 0)
        texts.insert(problem.text);
    }
    std::string error;
    if (texts.size() > 1) error = std::to_string(texts.size()) + " references lead nowhere:\n  ";
    for (const std::string& text : texts) error += (text == *texts.begin() ? "" : "\n  ") + text;
    if (!texts.empty()) errors[error] |= platform;
  }
  return errors;
}

}  // namespace

bool CookCore::Impl::IsQuiet() const {
  return request.has_value() && selected_next == request->selected.size() && agenda.empty() &&
         lifecycle.in_works() <= (IsSabotaged(Sabotage::kEndWithPending) ? 1 : 0) &&
         commits.empty() && !losses_of_store.is_looking;
}

void CookCore::Impl::MaybeEnd() {
  if (!request.has_value()) {
    if (waiting_requests.empty() || !commits.empty()) return;
    CookRequested next = std::move(waiting_requests.front());
    waiting_requests.pop_front();
    return StartCook(std::move(next));
  }
  if (ending != Ending::kNone) {
    if (commits.empty()) End("");
    return;
  }
  if (is_settling || !IsQuiet() || ReexploreIfChanged()) return;
  const std::vector<PackageId> by_name = InCookByName();
  for (const PackageId package : by_name) Judge(package);
  if (ending != Ending::kNone) return MaybeEnd();
  // All that was selected is gone, or was never there: there is nothing to be a root of.
  const auto is_there = [&](PackageId id) {
    const PackageData& package = packages[id];
    return package.is_selected &&
           (package.generated != nullptr || catalog->Find(package.name).has_value());
  };
  if (!request->selected.empty() && std::none_of(by_name.begin(), by_name.end(), is_there))
    return End("");
  is_settling = true;
  unpublished = request->platforms;
  for (PlatformIndex p = 0; p < platform_count; ++p) {
    if (unpublished & MaskOf(p)) SendRoot(p, by_name);
  }
  if (unpublished == 0) StageOrEnd();
}

// References are those of the last snapshot as a whole.
bool CookCore::Impl::ReexploreIfChanged() {
  if (judged_epoch == epoch) return false;
  judged_epoch = epoch;
  for (uint32_t i = 0; i < packages.size(); ++i) {
    const PackageData& package = packages[PackageId(i)];
    if (!package.is_in_cook || package.explored_epoch == epoch) continue;
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if (package.slots[p].explored == nullptr) continue;
      agenda.Push(package.urgency, {AgendaItem::Kind::kExplore, PackageId(i), p});
      break;  // it sees to the other platforms
    }
  }
  return !agenda.empty();
}

std::vector<PackageId> CookCore::Impl::InCookByName() const {
  std::vector<PackageId> sorted;
  for (uint32_t i = 0; i < packages.size(); ++i) {
    if (packages[PackageId(i)].is_in_cook) sorted.push_back(PackageId(i));
  }
  std::sort(sorted.begin(), sorted.end(),
            [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); });
  return sorted;
}

// A hard reference that leads nowhere fails the package, though its results stand; a soft one is a
// warning.
void CookCore::Impl::Judge(PackageId id) {
  PackageData& package = packages[id];
  // They stay: platforms may be added before the roots are published, and share them.
  std::vector<Problem> problems(package.problems.begin(), package.problems.end());
  edges.ForEachReference(id, [&](const Edge& edge) {
    const PackageData& target = packages[edge.target];
    // Asked for, but its generator does not list it.
    if (target.is_in_cook || GeneratorName(target.name).empty() || target.generated != nullptr)
      return;
    const record::ReferenceKind kind = edge.category == InstigatorCategory::kHardDependency
                                           ? record::ReferenceKind::kHard
                                           : record::ReferenceKind::kSoft;
    problems.push_back({kind, edge.platforms,
                        "refers to '" + target.name + "' (" +
                            std::string(record::ReferenceKindName(kind)) +
                            "): expected a package: " + std::string(GeneratorName(target.name)) +
                            " does not generate it"});
  });
  for (const Problem& problem : problems) {
    if (problem.kind != record::ReferenceKind::kHard) WarnOnce(id, problem.text);
  }
  const absl::btree_map<std::string, PlatformMask> errors = ErrorsOf(problems);
  if (errors.empty()) return;
  for (const auto& [error, platforms] : errors) FailJudged(id, platforms, Stage::kLoad, error);
  if (package.work == nullptr) {
    lifecycle.SetUpToDate(id, false);
    lifecycle.SetOutcome(id, Outcome::kFailed);
  } else {
    Advance(id);
  }
}

void CookCore::Impl::FailJudged(PackageId id, PlatformMask platforms, Stage stage,
                                const std::string& error) {
  const PlatformMask done = InPhase(id, Phase::kDone) & platforms;
  if (done != 0) judged[id] |= done;
  FailPlatforms(id, platforms, stage, error, "");
}

// Another platform, or the package's next look, has the same to say.
void CookCore::Impl::WarnOnce(PackageId id, const std::string& text) {
  if (warned.emplace(id, text).second) Note(PackageWarned{id, std::nullopt, text});
}

// The closure of what was selected, over results that stand.
void CookCore::Impl::SendRoot(PlatformIndex platform, const std::vector<PackageId>& by_name) {
  std::vector<PackageId> found;
  std::vector<bool> is_found(packages.size(), false);
  const auto is_done = [&](PackageId id) {
    const PackageData& package = packages[id];
    return package.is_in_cook && platform < package.slots.size() &&
           package.slots[platform].phase == Phase::kDone;
  };
  const auto add = [&](PackageId id) {
    if (is_found[id.index()] || !is_done(id)) return;
    const std::string_view generator = GeneratorName(NameOf(id));
    if (!generator.empty() && !is_done(packages.Find(generator))) return;
    is_found[id.index()] = true;
    found.push_back(id);
  };
  for (uint32_t i = 0; i < packages.size(); ++i) {
    if (packages[PackageId(i)].is_selected) add(PackageId(i));
  }
  for (size_t i = 0; i < found.size(); ++i) {
    edges.ForEachReference(found[i], [&](const Edge& edge) {
      if (edge.platforms & MaskOf(platform)) add(edge.target);
    });
    for (const PackageId child : packages[found[i]].generates) add(child);
  }
  BuildRoot root{.platform = platform};
  root.platform_set = platform_sets.present();
  root.round = losses_of_store.rounds;
  for (const PackageId id : by_name) {
    if (is_found[id.index()])
      root.packages.emplace_back(id, packages[id].slots[platform].result->id);
  }
  turn.roots.emplace_back(std::move(root));
}

void CookCore::Impl::OnRootBuilt(const RootBuilt& event) {
  if (!request.has_value() || !is_settling || ending != Ending::kNone ||
      event.platform_set != platform_sets.present() || event.round != losses_of_store.rounds ||
      !(unpublished & MaskOf(event.platform)))
    return;
  if (!event.lost.empty()) {
    MakeAgain(event.lost);
    if (request.has_value()) SendLookForLost();  // the builder asked the index, not the disk
    return;
  }
  if (event.conflicts.empty()) {
    built[event.platform] = event.root;
    return PublishIfBuilt();
  }
  bool has_failed = false;
  const auto fail = [&](PackageId id, PackageId other, const RootBuilt::Conflict& conflict) {
    if (!packages.Has(id) || !packages[id].is_in_cook) return;
    has_failed |= (InPhase(id, Phase::kDone) & MaskOf(event.platform)) != 0;
    FailJudged(id, MaskOf(event.platform), Stage::kCommit,
               id == other
                   ? "its output " + conflict.path + " cannot be in a tree: " + conflict.reason
                   : ConflictText({conflict.path, NameOf(other), conflict.reason}));
    lifecycle.SetUpToDate(id, false);
    lifecycle.SetOutcome(id, Outcome::kFailed);
  };
  for (const RootBuilt::Conflict& conflict : event.conflicts) {
    fail(conflict.first, conflict.second, conflict);
    if (conflict.second != conflict.first) fail(conflict.second, conflict.first, conflict);
  }
  if (!has_failed)
    return End("a root could not be built: conflicts between packages that are not in it");
  if (ending == Ending::kNone) SendRoot(event.platform, InCookByName());
}

// Together: a cook that is interrupted, or fails fast for a conflict, publishes none. Not while
// somebody looks for what is lost: the answer may open the cook again.
void CookCore::Impl::PublishIfBuilt() {
  if (built.empty() || built.size() < static_cast<size_t>(std::popcount(unpublished))) return;
  if (losses_of_store.is_looking) return;
  is_publishing = has_published = true;
  for (const auto& [platform, root] : built)
    turn.roots.emplace_back(
        PublishRoot{platform, root, request->by_the_book, platform_sets.present()});
}

void CookCore::Impl::OnRootPublished(const RootPublished& event) {
  if (!request.has_value() || !is_settling || ending != Ending::kNone) return;
  const std::optional<PlatformIndex> platform =
      platform_sets.Index(event.platform, event.platform_set);
  if (!platform.has_value()) return;
  if (!event.error.empty()) return End("a root could not be published: " + event.error);
  unpublished &= ~MaskOf(*platform);
  if (unpublished == 0) StageOrEnd();
}

void CookCore::Impl::WarnOfFailedTargets() {
  const auto by_name = [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); };
  const auto has_failed = [&](PackageId id) {
    return packages[id].outcome == Outcome::kFailed || packages[id].is_skipped;
  };
  // Those that have to be warned, few as a rule: all would be long to sort.
  std::vector<PackageId> referencers;
  for (uint32_t i = 0; i < packages.size(); ++i) {
    bool is_one = false;
    edges.ForEachReference(PackageId(i),
                           [&](const Edge& edge) { is_one |= has_failed(edge.target); });
    if (is_one && packages[PackageId(i)].is_in_cook) referencers.push_back(PackageId(i));
  }
  std::sort(referencers.begin(), referencers.end(), by_name);
  for (const PackageId id : referencers) {
    std::vector<PackageId> targets;
    edges.ForEachReference(id, [&](const Edge& edge) {
      if (has_failed(edge.target) && (targets.empty() || targets.back() != edge.target))
        targets.push_back(edge.target);
    });
    std::sort(targets.begin(), targets.end(), by_name);
    for (const PackageId target : targets) {
      const bool is_skipped = packages[target].is_skipped;
      Note(PackageWarned{id, std::nullopt,
                         "refers to " + NameOf(target) +
                             (is_skipped ? ", which was not cooked" : ", which failed")});
    }
  }
}

// Read by a worker, and nobody asked for it: its output is not in the root. Whoever said that it is
// never cooked knows.
void CookCore::Impl::WarnOfUnsolicited() {
  std::vector<PackageId> readers;
  for (const auto& [reader, read] : unsolicited) readers.push_back(reader);
  std::sort(readers.begin(), readers.end(),
            [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); });
  for (const PackageId reader : readers) {
    if (!packages[reader].is_in_cook) continue;
    for (const std::string& name : unsolicited.at(reader)) {
      const PackageId package = packages.Find(name);
      const std::optional<CatalogEntry> entry = catalog->Find(name);
      if ((package.valid() && packages[package].is_in_cook) || !entry.has_value() ||
          entry->never_cook)
        continue;
      Note(PackageWarned{reader, std::nullopt,
                         "reads " + name +
                             ", a package that is not in the cook (Unsolicited): expected a hard "
                             "reference to it, or that it is never cooked"});
    }
  }
  if (unsolicited_dropped == 0 || readers.empty()) return;
  Note(PackageWarned{readers.back(), std::nullopt,
                     "and other packages read " + std::to_string(unsolicited_dropped) +
                         " more names that were not in the cook then: they are not told one by "
                         "one"});
}

// Nothing new begins; what is in hand is cancelled; what is being committed is waited for.
void CookCore::Impl::Stop(Ending how) {
  if (!request.has_value()) return;
  if (is_publishing) {
    losses_of_store.is_interrupted |= how == Ending::kInterrupted;
    return;
  }
  if (ending != Ending::kNone) {
    if (how == Ending::kInterrupted) ending = how;
    return;
  }
  ending = how;
  CancelAll();
}

void CookCore::Impl::CancelAll() {
  CancelResumed();
  for (const WorkerId worker : workers.Holding()) {
    for (const AttemptId attempt : workers.Find(worker)->hand.All()) {
      if (Current(attempt) == nullptr) continue;  // it ended with one further up
      const PackageId package = attempts.at(attempt).package;
      EndAttempt(attempt, Tell::kCancel);
      Advance(package);
    }
  }
}

void CookCore::Impl::End(const std::string& infrastructure_error) {
  if (!infrastructure_error.empty()) CancelAll();
  const bool is_complete = infrastructure_error.empty() && ending == Ending::kNone;
  if (is_complete) WarnOfFailedTargets();
  if (is_complete) WarnOfUnsolicited();
  for (uint32_t i = 0; i < packages.size(); ++i) {
    const PackageId id(i);
    PackageData& package = packages[id];
    if (package.state != State::kIdle) lifecycle.SetState(id, State::kIdle, "the cook is over");
    if (!package.is_in_cook || package.outcome != Outcome::kNone) continue;
    if (InPhase(id, Phase::kFailed) != 0) {
      lifecycle.SetOutcome(id, Outcome::kFailed);
      continue;
    }
    lifecycle.SetSkipped(id, true);
    ++counters.skipped;
  }
  agenda.Clear();
  lifecycle.equal_work().Clear();
  Note(CookEnded{request->request, ending == Ending::kInterrupted, ending == Ending::kFailFast,
                 infrastructure_error});
  request.reset();
  ending = Ending::kNone;
  is_settling = is_publishing = is_staging = false;
}

}  // namespace galley::director
