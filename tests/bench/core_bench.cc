// The director's core at full size. Workloads, in this order:
//   explore   a cook of a single root over a graph of --packages packages with --references
//             references each, from the request to the root: every look-up is a hit that brings its
//             references. Events are fed directly; only the time in CookCore::Step counts.
//   idle      the same core, in a cook of something else: what a package costs that is in no cook
//   edges     the same graph in Edges alone: bytes of both directions together
//   ranks     the bulk pass over it, beside Boost's strong_components over its CSR and a pass that
//             copies the numbers; interleaved, medians of --runs
//   edge      a new edge in the ranked graph, ends at random: half of them against the order
//
// The graph: each package has two children, so that all packages are found. Its other references
// lead to packages near it or, by a power law, to the last packages, which everybody shares. One
// reference in 2000 goes back a few packages and closes a cycle. Packages are numbered as they are
// found. A seed makes the graph.
//
// usage: core_bench [--packages N] [--references N] [--runs N] [--json]
#include <malloc.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <cstdio>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "director/core/cook_core.h"
#include "director/core/packages/edges.h"
#include "director/core/packages/package_data.h"
#include "director/core/packages/ranks.h"
#include "tests/bench/graph_flags.h"

namespace galley::director {
namespace {

using Graph = std::vector<std::vector<uint32_t>>;
// Processor time of the only thread, in seconds: other work of the machine does not count.
double Now() {
  struct timespec time {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
double SecondsSince(double start) { return Now() - start; }

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

double HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

double PeakMiB() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

Graph MakeGraph(uint32_t packages, uint32_t references) {
  std::mt19937_64 random(1);
  const auto share = [&] { return std::generate_canonical<double, 53>(random); };
  Graph graph(packages);
  for (uint32_t i = 0; i < packages; ++i) {
    const uint32_t left = packages - 1 - i;
    for (uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < packages; ++child)
      graph[i].push_back(child);
    while (graph[i].size() < references) {
      const double u = share();
      if (random() % 2000 == 0 || left == 0) {
        graph[i].push_back(i - std::min<uint32_t>(i, 1 + static_cast<uint32_t>(random() % 64)));
      } else if (random() % 2 == 0) {
        graph[i].push_back(i + 1 + static_cast<uint32_t>(u * std::min(left - 1, 1000u)));
      } else {
        graph[i].push_back(packages - 1 - static_cast<uint32_t>(u * u * u * (left - 1)));
      }
    }
  }
  // Numbers the packages as they are found.
  std::vector<uint32_t> found = {0}, number(packages, UINT32_MAX);
  number[0] = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    for (const uint32_t end : graph[found[i]]) {
      if (number[end] != UINT32_MAX) continue;
      number[end] = static_cast<uint32_t>(found.size());
      found.push_back(end);
    }
  }
  Graph numbered(packages);
  for (uint32_t i = 0; i < packages; ++i) {
    numbered[i] = std::move(graph[found[i]]);
    for (uint32_t& end : numbered[i]) end = number[end];
  }
  return numbered;
}

std::string NameOf(uint32_t package) {
  return "/Game/environment/set_" + std::to_string(package / 1000) + "/p" +
         std::to_string(package) + ".mesh";
}

uint32_t NumberOf(std::string_view name) {
  name.remove_prefix(name.rfind('p') + 1);
  uint32_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

class BenchCatalog : public Catalog {
 public:
  std::optional<std::string> NameOfFile(std::string_view) const override { return std::nullopt; }
  std::optional<CatalogEntry> Find(std::string_view) const override {
    return CatalogEntry{.cooker = "mesh", .source_bytes = 1000};
  }
  CatalogEntry Generated(std::string_view, std::string_view, std::string_view) const override {
    return {};
  }
  ReferenceTarget Resolve(std::string_view, std::string_view written) const override {
    return {.name = std::string(written)};
  }
};

// A shell that answers at once, and counts the core's time.
class Shell {
 public:
  explicit Shell(const Graph& graph)
      : graph_(graph), core_(CookOptions(), std::make_shared<BenchCatalog>()) {}

  void Cook(const std::string& name, bool has_references) {
    has_references_ = has_references;
    CookRequested request{.platforms = 1};
    request.selected.push_back({name, InstigatorCategory::kCommandLinePackage});
    inbox_.emplace_back(std::move(request));
    has_ended_ = false;
    while (!has_ended_) {
      if (inbox_.empty()) inbox_.emplace_back(Tick{});
      const Event event = std::move(inbox_.front());
      inbox_.pop_front();
      Step(event);
    }
  }

  const CookCore& core() const { return core_; }
  double seconds = 0, ready_seconds = 0, longest = 0;
  uint64_t steps = 0, packages_in_root = 0;

 private:
  void Step(const Event& event) {
    std::vector<Effect> effects;
    const double start = Now();
    core_.Step(absl::UnixEpoch(), event, effects);
    const double took = SecondsSince(start);
    seconds += took;
    if (ready_seconds == 0) longest = std::max(longest, took);
    ++steps;
    for (Effect& effect : effects) {
      if (const auto* ask = std::get_if<LookUp>(&effect)) {
        Answer(*ask);
      } else if (const auto* persist = std::get_if<Persist>(&effect)) {
        Persisted done;
        for (const Persist::Item& item : persist->items)
          done.items.push_back({item.package, item.platform, item.result, nullptr});
        inbox_.emplace_back(std::move(done));
      } else if (const auto* root = std::get_if<BuildRoot>(&effect)) {
        ready_seconds = seconds;
        packages_in_root = root->packages.size();
        inbox_.emplace_back(RootBuilt{root->platform, Digest::Of("root"), {}});
      } else if (const auto* publish = std::get_if<PublishRoot>(&effect)) {
        inbox_.emplace_back(RootPublished{publish->platform, ""});
      } else if (const auto* notify = std::get_if<Notify>(&effect)) {
        has_ended_ |= std::holds_alternative<CookEnded>(notify->notice);
      }
    }
  }

  void Answer(const LookUp& ask) {
    LookedUp answer;
    for (const LookUp::Item& item : ask.items) {
      auto result = std::make_shared<ResultView>();
      result->id = ResultId(item.package.value());
      if (has_references_) {
        for (const uint32_t end : graph_[NumberOf(core_.NameOf(item.package))])
          result->references.push_back({NameOf(end), record::ReferenceKind::kHard});
      }
      answer.items.push_back({item.package, 0, item.generation, LookedUp::Hit{result, true}});
    }
    inbox_.emplace_back(std::move(answer));
  }

  const Graph& graph_;
  CookCore core_;
  std::deque<Event> inbox_;
  bool has_references_ = false;
  bool has_ended_ = false;
};

struct Row {
  std::string name, unit;
  double value;
};
std::vector<Row> rows;

void Say(const std::string& name, double value, const std::string& unit) {
  rows.push_back({name, unit, value});
  std::fprintf(stderr, "core  %-34s %14.3f %s\n", name.c_str(), value, unit.c_str());
}

void Explore(const Graph& graph) {
  const double before = HeapBytes();
  Shell shell(graph);
  shell.Cook(NameOf(0), /*has_references=*/true);
  const double packages = static_cast<double>(graph.size());
  if (shell.packages_in_root != graph.size() || shell.core().package_count() != graph.size()) {
    std::fprintf(stderr, "core_bench: %zu packages were found and %zu published, expected %zu\n",
                 static_cast<size_t>(shell.core().package_count()),
                 static_cast<size_t>(shell.packages_in_root), graph.size());
    std::exit(1);
  }
  Say("explore to ready", shell.ready_seconds, "s");
  Say("explore to ready, each package", shell.ready_seconds / packages * 1e6, "us");
  Say("longest step while exploring", shell.longest * 1e3, "ms");
  Say("in a cook, with results' views", (HeapBytes() - before) / packages, "bytes a package");
  shell.Cook("/Game/other.mesh", /*has_references=*/false);
  double names = 0;
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const std::string& name = shell.core().NameOf(PackageId(i));
    names += static_cast<double>(malloc_usable_size(const_cast<char*>(name.data()))) + 8;
  }
  Say("idle, in no cook, with its name", (HeapBytes() - before) / packages, "bytes a package");
  Say("idle, in no cook", (HeapBytes() - before - names) / packages, "bytes a package");
  Say("sizeof PackageData", sizeof(PackageData), "bytes");
}

void RankIt(const Graph& graph, int runs) {
  const uint32_t packages = static_cast<uint32_t>(graph.size());
  Edges edges;
  Ranks ranks(edges);
  edges.Grow(packages);
  ranks.Grow(packages);
  std::vector<PackageId> found, changed;
  double seconds = 0;
  for (uint32_t i = 0; i < packages; ++i) {
    std::vector<Edges::Target> targets;
    for (const uint32_t end : graph[i])
      targets.emplace_back(PackageId(end), InstigatorCategory::kHardDependency);
    found.clear();
    edges.Follow(PackageId(i), 0, std::move(targets), found);
    const double start = Now();
    for (const PackageId end : found) ranks.AddEdge(PackageId(i), end, false, changed);
    seconds += SecondsSince(start);
    changed.clear();
  }
  const double count = static_cast<double>(edges.size());
  Say("edges", count, "");
  Say("an edge, both directions", static_cast<double>(edges.bytes()) / count, "bytes");
  Say("ranks", static_cast<double>(ranks.bytes()) / packages, "bytes a package");
  Say("an edge ranked on the way", seconds / count * 1e9, "ns");
  Say("put aside on the way", static_cast<double>(ranks.put_aside()) / count, "of the edges");

  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (uint32_t i = 0; i < packages; ++i) {
    for (const uint32_t word : edges.From(PackageId(i)))
      pairs.emplace_back(i, Edges::End(word).value());
  }
  using Csr = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property,
                                                 boost::no_property, boost::no_property, uint32_t>;
  double start = Now();
  const Csr csr(boost::edges_are_sorted, pairs.begin(), pairs.end(), packages);
  Say("Boost: CSR from sorted edges", SecondsSince(start), "s");
  std::vector<double> ours, theirs;
  uint32_t components = 0;
  for (int run = 0; run < runs; ++run) {
    start = Now();
    ranks.BulkRank();
    ours.push_back(SecondsSince(start));
    start = Now();
    std::vector<uint32_t> component(packages);
    components = boost::strong_components(
        csr,
        boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, csr)));
    std::vector<Rank> rank(packages);
    for (uint32_t i = 0; i < packages; ++i) rank[i] = static_cast<Rank>(component[i]);
    theirs.push_back(SecondsSince(start));
  }
  std::vector<Rank> distinct;
  for (uint32_t i = 0; i < packages; ++i) distinct.push_back(ranks.RankOf(PackageId(i)));
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() != components) {
    std::fprintf(stderr, "core_bench: %zu cycles and single packages, expected Boost's %u\n",
                 distinct.size(), components);
    std::exit(1);
  }
  const double pass = Median(ours);
  Say("bulk ranks", pass, "s");
  Say("Boost: strong_components", Median(theirs), "s");
  Say("ratio bulk ranks / Boost", pass / Median(theirs), "(1.0 or less is asked for)");

  std::mt19937_64 random(2);
  std::vector<double> times;
  for (int i = 0; i < 2000; ++i) {
    const PackageId from(static_cast<uint32_t>(random() % packages));
    const PackageId to(static_cast<uint32_t>(random() % packages));
    changed.clear();
    start = Now();
    if (edges.Add(from, {to, InstigatorCategory::kSoftDependency}, true).binds_now)
      ranks.AddEdge(from, to, false, changed);
    times.push_back(SecondsSince(start));
  }
  Say("one new edge, median", Median(times) * 1e6, "us");
  Say("one new edge, longest", *std::max_element(times.begin(), times.end()) * 1e6, "us");
  Say("ratio new edge / bulk ranks", Median(times) / pass, "(0.001 or less is asked for)");
}

int Main(int argc, char** argv) {
  const bench::GraphFlags flags = bench::ReadGraphFlags(argc, argv, {});
  const uint32_t packages = flags.packages, references = flags.references;
  const Graph graph = MakeGraph(packages, references);
  malloc_trim(0);
  RankIt(graph, static_cast<int>(flags.runs));
  Explore(graph);
  Say("peak memory, the graph included", PeakMiB(), "MiB");
  if (!flags.json) return 0;
  std::printf("[");
  for (size_t i = 0; i < rows.size(); ++i) {
    std::printf(
        "%s{\"workload\": \"core\", \"packages\": %u, \"references\": %u, \"kind\": \"%s\", "
        "\"value\": %.6g, \"unit\": \"%s\"}",
        i == 0 ? "" : ",\n ", packages, references, rows[i].name.c_str(), rows[i].value,
        rows[i].unit.c_str());
  }
  std::printf("]\n");
  return 0;
}

}  // namespace
}  // namespace galley::director

int main(int argc, char** argv) { return galley::director::Main(argc, argv); }
