#include "tests/simulation/device_worlds.h"

#include <sys/stat.h>

#include <cstring>
#include <utility>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/testing/snapshot_maker.h"
#include "common/project/resolver.h"
#include "common/record/cooker_description.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a simulation of it

namespace {

// The times of files lie long before anybody looked at them, so that no file is racy.
constexpr int64_t kSeenNs = 4'000'000'000'000'000'000;
constexpr int64_t kStampsMax = 1'000'000'000'000'000'000;

constexpr uint64_t kPlainEach = 3;

const std::vector<content::Mount>& Mounts() {
  static const std::vector<content::Mount>& mounts =
      *new std::vector<content::Mount>{{.path = "/Game", .directory = "/simulated/content"}};
  return mounts;
}

// Files of equal bytes have one stamp, whichever director looks at them.
FileStat StampOf(const std::string& bytes) {
  uint64_t word = 0;
  std::memcpy(&word, Digest::Of(bytes).hash().data(), sizeof word);
  const auto time = static_cast<int64_t>(word % kStampsMax);
  return {.size_bytes = bytes.size(),
          .mtime_ns = time,
          .ctime_ns = time,
          .inode = 1,
          .device = 1,
          .mode = S_IFREG | 0644};
}

std::shared_ptr<content::Snapshot> SnapshotOf(const Files& files) {
  static SystemClock& unused = *new SystemClock();  // nobody hashes a file
  std::vector<content::Row> rows;
  for (const auto& [path, bytes] : files) {
    content::Row row;
    row.entry.path = path;
    row.entry.host_path = "/simulated/content" + path.substr(5);
    row.entry.stat = StampOf(bytes);
    row.knowledge.seen_ns = kSeenNs;
    row.knowledge.known = content::HashedDigest{.digest = Digest::Of(bytes), .hashed_ns = kSeenNs};
    rows.push_back(std::move(row));
  }
  return content::SnapshotMaker::Make(Mounts(), std::move(rows), unused);
}

std::string MarkerOf(const Files& files) {
  std::string text;
  for (const auto& [name, bytes] : files) text += name + "=" + bytes + "\n";
  return "world " + Digest::Of(text).hex();
}

}  // namespace

DeviceWorlds::DeviceWorlds(const World& world) : world_(world) {
  for (const auto& [name, package] : world.packages) {
    if (package.is_never_cooked) never_cooked_.push_back(name);
  }
}

Files DeviceWorlds::PlainFilesOf(const Files& files) {
  Files plain;
  for (uint64_t i = 0; i < files.size() + kPlainEach; i += kPlainEach) {
    const std::string name = World::NameOf(i);
    const auto file = files.find(name);
    if (file == files.end()) continue;
    plain[std::string(kPlainFolder) + name.substr(name.rfind('/') + 1) + ".txt"] =
        "plain " + file->second;
  }
  plain[std::string(kMarker)] = MarkerOf(files);
  return plain;
}

const Files* DeviceWorlds::FilesOf(const Digest& marker) const {
  const auto found = by_marker_.find(marker);
  return found == by_marker_.end() ? nullptr : &found->second;
}

const DeviceWorlds::Ground& DeviceWorlds::GroundFor(const std::vector<std::string>& platforms) {
  Ground& ground = grounds_[platforms];
  if (ground.project != nullptr) return ground;
  auto project = std::make_shared<project::Project>();
  project->name = "simulated";
  project->root = "/simulated";
  project->mounts = Mounts();
  for (const std::string& name : platforms)
    project->platforms.push_back({.name = name, .parameters = {{"name", name}}});
  const auto add_rule = [&](std::string_view match, const std::string& cooker, int line) {
    project::Rule rule{.match = *content::Glob::Parse(match), .body = {}, .line = line};
    rule.body.cooker = cooker;
    project->rules.push_back(std::move(rule));
  };
  add_rule("/**/*", "sim", 10);
  add_rule("/Game/plain/*.txt", "copy", 20);
  for (const std::string& name : never_cooked_) project->cook.never.push_back({name});
  const std::vector<record::CookerDescription> cookers = {
      {.name = "copy", .identity = "1", .outputs = {{.suffix = ""}}},
      {.name = "sim", .identity = "1", .outputs = {{.suffix = ".out"}}, .may_generate = true}};
  ground = {.project = project,
            .resolver = std::make_shared<project::RecipeResolver>(*project, cookers)};
  return ground;
}

WorldPtr DeviceWorlds::Make(const Snapshot& snapshot) {
  Files files = snapshot.files();
  const Files plain = PlainFilesOf(files);
  by_marker_.emplace(Digest::Of(plain.at(std::string(kMarker))), files);
  files.insert(plain.begin(), plain.end());
  const Ground& ground = GroundFor(snapshot.platform_names());
  auto world = std::make_shared<director::World>();
  world->number = snapshot.number();
  world->snapshot = SnapshotOf(files);
  world->project = ground.project;
  auto table = ProjectCatalog::Build(world->snapshot, ground.project, ground.resolver, 1);
  GALLEY_CHECK(table.ok());
  world->table = *std::move(table);
  world->table_file = snapshot.table();
  world->table_id = snapshot.table();
  world->environment = {{World::kVariable, world_.environment}};
  // Else the keys of the core and those of devices would have nothing to do with each other.
  for (const auto& [name, bytes] : snapshot.files()) {
    const RecipesPtr recipes = world->table->RecipesOf(name);
    GALLEY_CHECK(recipes != nullptr && !recipes->empty());
    GALLEY_CHECK(recipes->front().recipe == world_.recipe());
  }
  return world;
}

}  // namespace galley::simulation
