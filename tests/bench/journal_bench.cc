// The journal at full size: what opening it and reading all of it takes, beside RocksDB alone.
//
// Workload: --packages packages of one platform, each with --references references in its result,
// five observations, as many reasons as references, and a published key; recorded in groups of 512
// as a cook does, unsynced. Then, --runs times, interleaved, each in a journal opened anew:
//   open      Journal::Open, with the log that the last director left
//   replay    Journal::ForEach: every record decoded, with its result, references, keys and
//             reasons; a director does this to take a graph from its journal
//   iterate   rocksdb::Iterator over the same keys; values are only looked at
// Wall and processor time of the process (RocksDB has threads of its own).
//
// usage: journal_bench [--packages N] [--references N] [--runs N] [--json] [--dir DIR]
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/record/result.h"
#include "common/rocks/rocks.h"
#include "director/journal/database.h"
#include "director/journal/journal.h"
#include "rocksdb/db.h"
#include "tests/bench/graph_flags.h"

namespace galley::director {
namespace {

constexpr uint32_t kGroup = 512;

double Now(clockid_t clock) {
  struct timespec time {};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Taken {
  std::vector<double> wall, cpu;

  template <typename Body>
  void Add(const Body& body) {
    const double wall_before = Now(CLOCK_MONOTONIC), cpu_before = Now(CLOCK_PROCESS_CPUTIME_ID);
    body();
    wall.push_back(Now(CLOCK_MONOTONIC) - wall_before);
    cpu.push_back(Now(CLOCK_PROCESS_CPUTIME_ID) - cpu_before);
  }
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "journal_bench: %s\n", MessageOf(status).c_str());
  std::exit(1);
}

std::string NameOf(uint32_t package) {
  return "/Game/environment/set_" + std::to_string(package / 1000) + "/p" +
         std::to_string(package) + ".mesh";
}

uint32_t EndOf(uint32_t package, uint32_t reference, uint32_t packages) {
  return static_cast<uint32_t>((uint64_t{package} * 7919 + reference * 104'729u + 1) % packages);
}

JournalUpdate UpdateOf(uint32_t package, uint32_t references, uint32_t packages) {
  JournalUpdate update{.package = NameOf(package), .platform = "pc"};
  record::Result result;
  result.outputs.push_back({".glb", Digest::Of("output of " + update.package)});
  for (uint32_t i = 0; i < references; ++i)
    result.details.references.push_back({NameOf(EndOf(package, i, packages))});
  std::sort(result.details.references.begin(), result.details.references.end());
  result.provenance = {.worker = "local-1", .machine = "bench", .identity = "1"};
  PlatformRecord& record = update.record;
  record.recipe = Digest::Of("recipe");
  record.source = Digest::Of(update.package);
  record.weak_key = Digest::Of("weak " + update.package);
  record.action_key = Digest::Of("key " + update.package);
  record.recipe_bytes = std::string(100, 'r');
  record.result = record::EncodeResult(result);
  using record::ObservationKind;
  record.observed = {{{ObservationKind::kFile, "buffer.bin", ""}, record.source.ToString()},
                     {{ObservationKind::kExists, "extra.json", ""}, "absent"},
                     {{ObservationKind::kPlatform, "texture", ""}, "=bc"}};
  auto observed = record::Canonical(std::move(record.observed));
  Require(observed.status());
  record.observed = *std::move(observed);
  record.last_cook = {
      .source = "cooked", .worker = "local-1", .attempt = package, .is_first = true};
  record.published_key = record.action_key;
  record.published_in = PublishedIn{.sequence = 1, .root = record.recipe};
  return update;
}

void Fill(const std::string& folder, uint32_t packages, uint32_t references) {
  auto journal = Journal::Open(folder);
  Require(journal.status());
  for (uint32_t begin = 0; begin < packages; begin += kGroup) {
    std::vector<JournalUpdate> updates;
    std::vector<std::pair<std::string, std::vector<InstigatorRecord>>> instigators;
    for (uint32_t i = begin; i < std::min(packages, begin + kGroup); ++i) {
      updates.push_back(UpdateOf(i, references, packages));
      instigators.emplace_back(updates.back().package, std::vector<InstigatorRecord>());
      for (uint32_t r = 0; r < references; ++r)
        instigators.back().second.push_back({1, NameOf(EndOf(i, r + references, packages))});
    }
    Require((*journal)->Record(updates, false));
    Require((*journal)->RecordInstigators(instigators));
  }
}

struct Read {
  uint64_t packages = 0, references = 0, reasons = 0;
};

Read Replay(Journal& journal) {
  Read read;
  Require(journal.ForEach([&](std::string_view, const PackageRecord& record) {
    ++read.packages;
    read.reasons += record.instigators.size();
    for (const auto& [platform, one] : record.platforms) {
      const auto result = record::DecodeResult(one.result);
      Require(result.status());
      read.references += result->details.references.size();
    }
  }));
  return read;
}

// Reads the keys "P...", which ForEach reads, too.
uint64_t Iterate(const std::string& folder) {
  auto database = OpenDatabase(folder, {});
  Require(database.status());
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> iterator((*database)->NewIterator(options));
  uint64_t bytes = 0;
  for (iterator->Seek("P"); iterator->Valid() && iterator->key().starts_with("P"); iterator->Next())
    bytes += iterator->key().size() + iterator->value().size();
  Require(rocks::ToStatus(iterator->status(), "reading the journal"));
  return bytes;
}

int Main(int argc, char** argv) {
  const bench::GraphFlags flags = bench::ReadGraphFlags(
      argc, argv,
      {.runs = 3,
       .dir = (std::filesystem::temp_directory_path() / "galley-journal-bench").string()});
  const uint32_t packages = flags.packages, references = flags.references;
  const std::string& folder = flags.dir;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Taken fill, open, replay, iterate;
  fill.Add([&] { Fill(folder, packages, references); });
  uint64_t bytes = 0;
  for (uint32_t run = 0; run < std::max(flags.runs, 1u); ++run) {
    iterate.Add([&] { bytes = Iterate(folder); });
    std::unique_ptr<Journal> journal;
    open.Add([&] {
      auto opened = Journal::Open(folder);
      Require(opened.status());
      journal = *std::move(opened);
    });
    Read read;
    replay.Add([&] { read = Replay(*journal); });
    const uint64_t expected = uint64_t{packages} * references;
    if (read.packages != packages || read.references != expected || read.reasons != expected) {
      std::fprintf(stderr, "journal_bench: %llu packages and %llu references were read\n",
                   static_cast<unsigned long long>(read.packages),
                   static_cast<unsigned long long>(read.references));
      return 1;
    }
  }
  std::filesystem::remove_all(folder);
  struct Row {
    const char* name;
    double value;
    const char* unit;
  };
  const Row rows[] = {
      {"journal: bytes of packages", static_cast<double>(bytes) / packages, "bytes a package"},
      {"journal: recording, cpu", Median(fill.cpu) / packages * 1e6, "us a package"},
      {"journal: open, wall", Median(open.wall), "s"},
      {"journal: open, cpu", Median(open.cpu), "s"},
      {"journal: replay, wall", Median(replay.wall), "s"},
      {"journal: replay, cpu", Median(replay.cpu), "s"},
      {"RocksDB: open and iterate, wall", Median(iterate.wall), "s"},
      {"RocksDB: open and iterate, cpu", Median(iterate.cpu), "s"},
      {"ratio open and replay / RocksDB, cpu",
       (Median(open.cpu) + Median(replay.cpu)) / Median(iterate.cpu), ""},
  };
  std::printf(flags.json ? "[" : "");
  for (const Row& row : rows) {
    std::fprintf(stderr, "core  %-36s %12.3f %s\n", row.name, row.value, row.unit);
    if (flags.json)
      std::printf(
          "%s{\"workload\": \"core\", \"packages\": %u, \"references\": %u, \"kind\": "
          "\"%s\", \"value\": %.6g, \"unit\": \"%s\"}",
          &row == rows ? "" : ",\n ", packages, references, row.name, row.value, row.unit);
  }
  std::printf(flags.json ? "]\n" : "");
  return 0;
}

}  // namespace
}  // namespace galley::director

int main(int argc, char** argv) { return galley::director::Main(argc, argv); }
