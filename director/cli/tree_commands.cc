// roots, tree, diff, checkout, store stats, store verify: what the store holds.

#include <algorithm>
#include <cstdio>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/tree/tree.h"
#include "director/cli/commands.h"
#include "director/stage/stage.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::cli {
namespace {

// The store, and the id of the project whose roots are meant: with --store and no project, every
// project's.
struct Opened {
  std::unique_ptr<store::Store> store;
  std::string project_id;
};

absl::StatusOr<Opened> Open(const GlobalOptions& options) {
  Opened opened;
  ASSIGN_OR_RETURN(opened.store, OpenStoreOf(options));
  if (auto project = OpenProject(options); project.ok()) opened.project_id = ProjectId(*project);
  return opened;
}

tree::ReadBlob Reader(store::Store& store) {
  return [&store](const Digest& digest) { return store.Get(digest); };
}

ExitCode CodeOf(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kUsage : kInfrastructure;
}

}  // namespace

int RunRoots(const GlobalOptions& options) {
  auto opened = Open(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto roots = opened->store->Roots(opened->project_id);
  if (!roots.ok()) return Fail(options, kInfrastructure, MessageOf(roots.status()));
  for (const store::PublishedRoot& root : *roots) {
    const std::string time = absl::FormatTime(absl::RFC3339_sec, root.time, absl::UTCTimeZone());
    if (options.json) {
      PrintJson({{"project_id", root.project_id},
                 {"platform", root.platform},
                 {"sequence", root.sequence},
                 {"root", root.root.ToString()},
                 {"by_the_book", root.by_the_book},
                 {"time", time}});
    } else {
      std::puts(fmt::format("{:<12} {:>5}  {}  {}  {}", root.platform, root.sequence, time,
                            root.by_the_book ? "book" : "part", root.root.ToString())
                    .c_str());
    }
  }
  return kDone;
}

int RunTree(const GlobalOptions& options, const std::string& root_text, const std::string& path) {
  auto opened = Open(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto root = ResolveRoot(*opened->store, opened->project_id, root_text);
  if (!root.ok()) return Fail(options, kUsage, MessageOf(root.status()));
  const auto files = tree::ListTree(*root, Reader(*opened->store));
  if (!files.ok()) return Fail(options, kInfrastructure, MessageOf(files.status()));
  std::string prefix = path;
  while (!prefix.empty() && prefix.front() == '/') prefix.erase(0, 1);
  while (!prefix.empty() && prefix.back() == '/') prefix.pop_back();
  bool found = prefix.empty();
  for (const tree::TreeFile& file : *files) {
    if (!prefix.empty() && file.path != prefix && !file.path.starts_with(prefix + "/")) continue;
    found = true;
    if (options.json) {
      PrintJson({{"path", file.path},
                 {"digest", file.digest.ToString()},
                 {"executable", file.is_executable}});
    } else {
      std::puts(fmt::format("{} {:>10} {}{}", file.digest.hex().substr(0, 16),
                            file.digest.size_bytes(), file.path, file.is_executable ? "*" : "")
                    .c_str());
    }
  }
  return found ? kDone
               : Fail(options, kUsage,
                      fmt::format("{}: no such path in root {}", path, root->ToString()));
}

int RunDiff(const GlobalOptions& options, const std::string& before_text,
            const std::string& after_text) {
  auto opened = Open(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto before = ResolveRoot(*opened->store, opened->project_id, before_text);
  if (!before.ok()) return Fail(options, kUsage, MessageOf(before.status()));
  const auto after = ResolveRoot(*opened->store, opened->project_id, after_text);
  if (!after.ok()) return Fail(options, kUsage, MessageOf(after.status()));
  const auto differences = tree::DiffTrees(*before, *after, Reader(*opened->store));
  if (!differences.ok()) return Fail(options, kInfrastructure, MessageOf(differences.status()));
  static constexpr const char* kNames[] = {"added", "removed", "changed"};
  for (const tree::Difference& one : *differences) {
    const bool is_removed = one.kind == tree::Difference::Kind::kRemoved;
    const bool is_added = one.kind == tree::Difference::Kind::kAdded;
    const std::string& path = is_removed ? one.before.path : one.after.path;
    const char* name = kNames[static_cast<int>(one.kind)];
    if (options.json) {
      nlohmann::json line = {{"kind", name}, {"path", path}};
      if (!is_added) line["before"] = one.before.digest.ToString();
      if (!is_removed) line["after"] = one.after.digest.ToString();
      PrintJson(line);
    } else {
      std::puts(fmt::format("{:<8} {} ({} -> {})", name, path,
                            is_added ? "-" : std::to_string(one.before.digest.size_bytes()),
                            is_removed ? "-" : std::to_string(one.after.digest.size_bytes()))
                    .c_str());
    }
  }
  return differences->empty() ? kDone : kFailed;
}

int RunCheckout(const GlobalOptions& options, const std::string& root_text,
                const std::string& directory) {
  auto opened = Open(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto root = ResolveRoot(*opened->store, opened->project_id, root_text);
  if (!root.ok()) return Fail(options, kUsage, MessageOf(root.status()));
  const auto report = director::Checkout(*opened->store, *root, AbsolutePath(directory));
  if (!report.ok()) {
    return Fail(options, absl::IsFailedPrecondition(report.status()) ? kUsage : kInfrastructure,
                MessageOf(report.status()));
  }
  if (options.json) {
    PrintJson({{"root", root->ToString()},
               {"directory", AbsolutePath(directory)},
               {"files", report->written},
               {"bytes", report->bytes_written}});
  } else if (!options.quiet) {
    std::puts(fmt::format("{}: {} files, {}", directory, report->written,
                          HumanBytes(report->bytes_written))
                  .c_str());
  }
  return kDone;
}

int RunStoreStats(const GlobalOptions& options) {
  auto opened = OpenStoreOf(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto info = (*opened)->Info();
  if (!info.ok()) return Fail(options, kInfrastructure, MessageOf(info.status()));
  const auto stats = (*opened)->Stats();
  if (!stats.ok()) return Fail(options, kInfrastructure, MessageOf(stats.status()));
  const nlohmann::ordered_json json = {{"directory", info->directory},
                                       {"store_id", info->store_id},
                                       {"loss_epoch", info->loss_epoch},
                                       {"blobs", stats->blobs},
                                       {"blob_bytes", stats->blob_bytes},
                                       {"results", stats->results},
                                       {"observation_sets", stats->observation_sets},
                                       {"segments", stats->segments},
                                       {"segment_bytes", stats->segment_bytes},
                                       {"files", stats->files},
                                       {"file_bytes", stats->file_bytes},
                                       {"roots", stats->roots},
                                       {"quarantined", stats->quarantined}};
  if (options.json) {
    std::puts(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return kDone;
  }
  for (const auto& [key, value] : json.items()) {
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (key.ends_with("_bytes")) text = HumanBytes(value.get<uint64_t>());
    std::puts(fmt::format("{:<17} {}", key, text).c_str());
  }
  return kDone;
}

int RunStoreVerify(const GlobalOptions& options) {
  auto opened = OpenStoreOf(options);
  if (!opened.ok())
    return Fail(options, absl::IsInvalidArgument(opened.status()) ? kUsage : kInfrastructure,
                MessageOf(opened.status()));
  const auto report = (*opened)->Verify();
  if (!report.ok()) return Fail(options, kInfrastructure, MessageOf(report.status()));
  if (options.json) {
    PrintJson({{"blobs", report->blobs}, {"bytes", report->bytes}, {"problems", report->problems}});
  } else {
    for (const std::string& problem : report->problems) std::puts(problem.c_str());
    if (!options.quiet) {
      std::puts(
          fmt::format("{} blobs, {}: {}", report->blobs, HumanBytes(report->bytes),
                      report->problems.empty()
                          ? "all whole"
                          : fmt::format("{} problems, quarantined; the next cook makes them again",
                                        report->problems.size()))
              .c_str());
    }
  }
  return report->problems.empty() ? kDone : kFailed;
}

int RunStoreCat(const GlobalOptions& options, const std::string& text) {
  const auto digest = Digest::Parse(text);
  if (!digest.ok())
    return Fail(options, kUsage, fmt::format("{}: {}", text, MessageOf(digest.status())));
  auto opened = OpenStoreOf(options);
  if (!opened.ok()) return Fail(options, CodeOf(opened.status()), MessageOf(opened.status()));
  const auto blob = (*opened)->Get(*digest);
  if (!blob.ok())
    return Fail(options, absl::IsNotFound(blob.status()) ? kFailed : kInfrastructure,
                MessageOf(blob.status()));
  std::fwrite((*blob)->data(), 1, (*blob)->size(), stdout);
  return kDone;
}

}  // namespace galley::cli
