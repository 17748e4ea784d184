// ExecutorTestWorld: a small project on disk, cooked by the ScriptCooker over a real snapshot. The
// results can be laid out as an Action.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/content/snapshot.h"
#include "common/record/action.h"
#include "gtest/gtest.h"
#include "worker/executor/files_in_place.h"
#include "worker/executor/run_job.h"
#include "worker/executor/snapshot_inputs.h"
#include "worker/executor/testing/script_cooker.h"

namespace galley::worker {

struct Kept final : public JobSink {
  absl::Status Loaded(const LoadReport& report) override {
    loads.push_back(report);
    return absl::OkStatus();
  }
  absl::Status Saved(const SaveReport& report) override {
    saves.push_back(report);
    return absl::OkStatus();
  }
  std::vector<uint32_t> LeftOut() override {
    if (left_out.empty()) return {};
    const std::vector<uint32_t> next = std::move(left_out.front());
    left_out.pop_front();
    return next;
  }
  std::vector<LoadReport> loads;
  std::vector<SaveReport> saves;
  std::deque<std::vector<uint32_t>> left_out;  // an answer for each call
};

class ExecutorTestWorld : public ::testing::Test {
 protected:
  ExecutorTestWorld() {
    root_ = *MakeTemporaryDirectory(::testing::TempDir(), "executor-");
    cookers_.push_back(CreateScriptCooker());
    platforms_ = {{.name = "linux", .parameters = {{"texture", "bc"}}},
                  {.name = "windows", .parameters = {{"texture", "bc"}}},
                  {.name = "phone", .parameters = {{"texture", "astc"}}}};
  }
  ~ExecutorTestWorld() override { RemoveAll(root_).IgnoreError(); }

  // `path`: virtual, "/Game/a.script"; each top folder is a mount.
  void Write(const std::string& path, const std::string& bytes) {
    const std::string host = root_ + "/mounts" + path;
    ASSERT_TRUE(CreateDirectories(host.substr(0, host.rfind('/'))).ok());
    ASSERT_TRUE(WriteFileAtomic(host, bytes).ok());
    contents_[Digest::Of(bytes)] = bytes;
  }

  void Scan(std::vector<content::Mount> more = {}) {
    std::vector<content::Mount> mounts = std::move(more);
    mounts.push_back({.path = "/Game", .directory = root_ + "/mounts/Game"});
    auto snapshot = content::Snapshot::Scan({.mounts = mounts, .threads = 1});
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    view_.reset();
    snapshot_ = *std::move(snapshot);
    view_ = std::make_unique<MountView>(snapshot_.get(), root_);
  }

  static record::Recipe RecipeOf(std::string settings = "{}") {
    return {.cooker = "script",
            .identity = "1",
            .extension = "script",
            .settings = std::move(settings)};
  }

  SnapshotInputsOptions Inputs(const std::string& package) {
    SnapshotInputsOptions options;
    options.snapshot = snapshot_.get();
    bytes_ = std::make_unique<FilesInPlace>(*snapshot_, no_store_, no_blobs_);
    options.bytes = bytes_.get();
    options.package = package;
    options.platforms = &platforms_;
    options.project_root = root_;
    options.scratch_directory = root_;
    options.tools = &tools_;
    options.view = view_.get();
    return options;
  }

  JobEnd Cook(const std::string& package, const std::vector<uint32_t>& platforms) {
    JobSpec spec;
    for (const uint32_t platform : platforms)
      spec.targets.push_back({.platform = platform, .recipe = RecipeOf()});
    SnapshotInputs inputs(Inputs(package));
    return RunJob(spec, inputs, cookers_, clock_, kept_);
  }

  // Lays out the looks of the first save as a folder for exec-action.
  std::string LayOutAction() {
    const SaveReport& save = kept_.saves.at(0);
    const auto action = record::BuildAction({.recipe = RecipeOf(),
                                             .source = save.source,
                                             .observed = save.observed,
                                             .trust_domain = "main"});
    EXPECT_TRUE(action.ok()) << action.status();
    const std::string directory = root_ + "/action";
    for (const record::InputFile& file : action->files) {
      const std::string path = directory + "/input/" + file.path;
      EXPECT_TRUE(CreateDirectories(path.substr(0, path.rfind('/'))).ok());
      EXPECT_TRUE(
          WriteFileAtomic(path, file.bytes.has_value() ? *file.bytes : contents_.at(file.digest))
              .ok());
    }
    EXPECT_TRUE(WriteFileAtomic(directory + "/action", action->action).ok());
    EXPECT_TRUE(WriteFileAtomic(directory + "/command", action->command).ok());
    return directory;
  }

  std::string root_;
  std::map<Digest, std::string> contents_;
  std::unique_ptr<content::Snapshot> snapshot_;
  std::unique_ptr<MountView> view_;
  const std::string no_store_;
  const std::map<Digest, store::BlobLocation> no_blobs_;
  std::unique_ptr<FilesInPlace> bytes_;  // the snapshot's bytes
  ToolDigests tools_;
  std::vector<PlatformInfo> platforms_;
  Cookers cookers_;
  SystemClock clock_;
  Kept kept_;
};

}  // namespace galley::worker
