// Plan: what staging must do to a sandbox, worked out before anything is touched.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tree/tree.h"
#include "director/stage/ledger.h"
#include "director/stage/sandbox.h"

namespace galley::director {

using PathSet = std::set<std::string, std::less<>>;

struct Removal {
  std::string path;
  bool is_folder = false;  // what is in it stands before it
};

struct Plan {
  std::vector<tree::TreeFile> writes;  // sorted by path
  std::vector<Removal> removals;
  uint64_t unchanged = 0;
  std::vector<FileStamp> stamps;  // of all the tree's files, sorted by path; those of `writes` are
                                  // still to be filled in
  std::vector<size_t> stamps_to_fill;        // for each of `writes`, where
  PathSet folders;                           // those that the tree wants
  std::vector<std::string> files;            // of Galley's, when it is done; sorted
  std::vector<std::string> files_meanwhile;  // and of those that may be there until then; sorted;
                                             // empty where nothing is written or removed
  std::vector<PlannedFile> planned;  // of `writes`, those that go where Galley has nothing and
                                     // `knows_all`: not in files_meanwhile; sorted
  uint64_t foreign_count = 0;  // by the book: files that Galley never put there, and that stay
  std::vector<std::string> foreign;  // the first of them, at most kForeignNamedMax
};
inline constexpr size_t kForeignNamedMax = 5;

// A file as it was laid there.
struct LaidFile {
  Digest digest;
  FileStamp stamp;
};

struct PlanInput {
  std::vector<tree::TreeFile> wanted;
  bool by_the_book = true;
  bool exact = false;  // by the book: what Galley never put there goes, too
  // Files that lie there whole, unless size or stamp differ.
  std::map<std::string, LaidFile, std::less<>> trusted;
  std::vector<std::string> known;  // all files of Galley's that may be there, sorted
  bool knows_all = false;  // what is not in `known` is somebody's, also at the path of a file of
                           // the tree; false: such a file is replaced
  std::vector<std::string> failed_packages;
  std::vector<std::string> packages_beside;
  const std::atomic<bool>* interrupted = nullptr;
  std::function<std::string(std::string_view path)> package_of = nullptr;
};

// "<path> of <package>", or the path alone.
std::string NameWithPackage(std::string_view path,
                            const std::function<std::string(std::string_view path)>& package_of);

// CANCELLED, INVALID_ARGUMENT and FAILED_PRECONDITION as Stage (stage.h).
absl::StatusOr<Plan> MakePlan(Sandbox& sandbox, PlanInput input);

absl::Status CheckInterrupted(const std::atomic<bool>* interrupted);

}  // namespace galley::director
