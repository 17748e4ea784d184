#include "director/core/packages/graph.h"

namespace galley::director {

Graph::Round::Round(const CookOptions& options, const StepContext& step, PackageTable& packages,
                    const Claimants& claimants)
    : ranks(edges, options.rank_visits_max), lifecycle(packages, ranks, claimants, step.now) {
  for (uint32_t i = 0; i < packages.size(); ++i) packages[PackageId(i)].BeginCook();
  edges.Grow(packages.size());
  ranks.Grow(packages.size());
}

Graph::Graph(const CookOptions& options, const StepContext& step, PackageTable& packages,
             const Claimants& claimants)
    : options_(options),
      step_(step),
      packages_(packages),
      claimants_(claimants),
      round_(std::make_unique<Round>(options, step, packages, claimants)) {}

void Graph::BeginAnew() {
  round_ = std::make_unique<Round>(options_, step_, packages_, claimants_);
  ++rounds_;
}

void Graph::ForgetUnless(const std::vector<bool>& is_kept) {
  // From the last one, so that the lowest id is used again first.
  for (uint32_t i = packages_.size(); i-- > 0;) {
    const PackageId id(i);
    if (is_kept[i]) packages_[id].explored_epoch = 0;
    if (is_kept[i] || !packages_.Has(id)) continue;
    round_->blame.Forget(id);
    round_->blame.Pardon(id);
    packages_.Forget(id);
  }
  round_->edges.ForgetUnless(is_kept);
  // Members of a cycle may be gone, and other packages will have their ids.
  RankAnew();
  ++rounds_;
}

PackageId Graph::FindOrAdd(std::string_view name) {
  const PackageId package = packages_.FindOrAdd(name);
  round_->edges.Grow(packages_.size());
  round_->ranks.Grow(packages_.size());
  return package;
}

void Graph::Push(const AgendaItem& item) {
  round_->agenda.Push(packages_[item.package].urgency, item);
  round_->lifecycle.CountOnAgenda(item.package, true);
}

AgendaItem Graph::Pop() {
  const AgendaItem item = round_->agenda.Pop();
  round_->lifecycle.CountOnAgenda(item.package, false);
  return item;
}

void Graph::ClearAgenda() {
  while (!round_->agenda.empty()) Pop();
}

void Graph::RemapAgenda(const PlatformMap& map) {
  round_->agenda.Remap(map, [this](PackageId id) { --packages_[id].on_agenda; });
}

void Graph::PushExploreAnew(PackageId id) {
  const PackageData& package = packages_[id];
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (package.slots[p].explored != nullptr)
      // Exploring one platform sees to the other platforms.
      return Push({AgendaItem::Kind::kExplore, id, p});
  }
}

void Graph::BindRanks(PackageId dependent, PackageId dependency, InstigatorCategory category) {
  if (!round_->edges.Add(dependent, {dependency, category}, /*binds_ranks=*/true).binds_now) return;
  PlaceInRanks(dependent, {dependency}, category == InstigatorCategory::kBuildDependency);
}

void Graph::PlaceInRanks(PackageId dependent, const std::vector<PackageId>& dependencies,
                         bool are_cooked_inputs) {
  std::vector<PackageId> changed;
  for (const PackageId dependency : dependencies)
    round_->ranks.AddEdge(dependent, dependency, are_cooked_inputs, changed);
  for (const PackageId package : changed) {
    if (packages_[package].work != nullptr) round_->lifecycle.Refresh(package);
  }
}

// While no queue asks for ranks, the pass can wait.
void Graph::RankAnewIfDue() {
  Lifecycle& lifecycle = round_->lifecycle;
  if (!round_->ranks.IsBulkDue() ||
      lifecycle.queues().loads().size() + lifecycle.queues().saves().size() < 2)
    return;
  RankAnew();
}

void Graph::RankAnew() {
  round_->ranks.BulkRank();
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    if (packages_[PackageId(i)].work != nullptr) round_->lifecycle.Refresh(PackageId(i));
  }
}

void Graph::NoteNoGenerator(PackageId id) {
  if (const std::string_view name = GeneratorName(packages_[id].name); !name.empty())
    round_->without_generator[FindOrAdd(name)].insert(id);
}

void Graph::ForgetNoGenerator(PackageId id) {
  if (round_->without_generator.empty()) return;
  const std::string_view name = GeneratorName(packages_[id].name);
  const auto found = round_->without_generator.find(packages_.Find(name));
  if (name.empty() || found == round_->without_generator.end()) return;
  found->second.erase(id);
  if (found->second.empty()) round_->without_generator.erase(found);
}

void Graph::ForEachWithReaders(PackageId id, absl::btree_set<PackageId>& done,
                               absl::FunctionRef<void(PackageId)> visit) const {
  std::vector<PackageId> to_do = {id};
  while (!to_do.empty()) {
    const PackageId next = to_do.back();
    to_do.pop_back();
    if (!done.insert(next).second) continue;
    visit(next);
    round_->edges.ForEachInstigator(next, [&](const InstigatorView& why) {
      if (why.category == InstigatorCategory::kBuildDependency && why.referencer.valid())
        to_do.push_back(why.referencer);
    });
    if (const auto found = round_->without_generator.find(next);
        found != round_->without_generator.end())
      to_do.insert(to_do.end(), found->second.begin(), found->second.end());
  }
}

}  // namespace galley::director
