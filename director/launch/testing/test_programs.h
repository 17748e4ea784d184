// TestPrograms: makes a folder with stand-ins for Galley's programs, which print their arguments.
#pragma once

#include <filesystem>
#include <string>

namespace galley::director {

inline void MakeTestPrograms(const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const char* name : {"/galley", "/galley-worker"})
    std::filesystem::copy_file("/bin/echo", folder + name);
}

}  // namespace galley::director
