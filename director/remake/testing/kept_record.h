// KeptRecordTest: a record whose source is copied to its output, and a program in place of
// galley-worker that does so.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/temporary_folder.h"
#include "common/record/kept_action.h"
#include "common/record/result.h"
#include "common/store/interface/store.h"
#include "gtest/gtest.h"

namespace galley::director {

// CopyAction: an Action of the cooker `copy`.
inline record::Action CopyAction(std::string_view source,
                                 std::vector<record::Observed> observed = {}) {
  return *record::BuildAction(
      {.recipe = {.cooker = "copy", .identity = "1", .extension = "txt", .settings = "{}"},
       .source = Digest::Of(source),
       .observed = std::move(observed),
       .trust_domain = "main"});
}

// Returns a result with the output ".txt".
inline record::Result CopyResult(std::string_view output) {
  record::Result result;
  result.outputs = {{.suffix = ".txt", .digest = Digest::Of(output)}};
  return result;
}

class KeptRecordTest : public testing::Test {
 protected:
  std::string In(std::string_view name) const { return JoinPath(folder_.path(), name); }

  // Writes a program that runs these lines of a shell script; $2 is the Action's folder.
  std::string Program(std::string_view lines) {
    const std::string path = In("program");
    EXPECT_TRUE(WriteFileAtomic(path, "#!/bin/sh\n" + std::string(lines)).ok());
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    return path;
  }
  // The lines of a program that copies the source to the output, with empty details.
  static constexpr std::string_view kCopy =
      "mkdir -p \"$2/out\" && cp \"$2/input/source\" \"$2/out/output.txt\"\n"
      "printf '\\010\\001' > \"$2/out/details\"\n";

  static void PutKept(store::Store& store, const record::Action& action) {
    for (const std::string_view bytes : record::BlobsToKeep(action))
      EXPECT_TRUE(store.Put(Digest::Of(bytes), bytes).ok());
  }

 private:
  const galley::TemporaryFolder folder_ =
      *galley::TemporaryFolder::Make(testing::TempDir(), "kept-record-");
};

}  // namespace galley::director
