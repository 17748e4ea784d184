// `galley-worker cook FILE`: one file through one cooker by hand, with no project, director or
// store, for people who tune settings. It runs what an executor runs, over a snapshot of the file's
// folder and of the mounts that are named.
#pragma once

#include <string>
#include <vector>

namespace galley::worker {

struct CookFileFlags {
  std::string file;
  std::string cooker;                   // empty: the one that takes files of this extension
  std::string settings = "{}";          // JSON, over the cooker's defaults
  std::vector<std::string> parameters;  // "texture=astc": of the platform
  std::vector<std::string> mounts;      // "/Game=content": shown to the cooker at that virtual path
  std::string out = ".";                // outputs are <out>/<file name><suffix>
  std::string preview;                  // a PNG of the first .ktx2, empty: none
  bool json = false;
};

// The exit code: 0, kExitVerdict, kExitUsage, kExitOther. Prints what was looked at and what came
// out.
int CookFile(const CookFileFlags& flags);

}  // namespace galley::worker
