# The library without the rest of Galley, as a game builds it: cmake -S common/vfs -B BUILD [--toolchain FILE]. It needs a compiler and the header of
# nlohmann json; with -DGALLEY_TESTS=ON also the sources of GoogleTest, as Debian has them.
option(GALLEY_TESTS "Build vfs_test and docs/examples/read_file.c" OFF)
option(GALLEY_UNITY "Compile the sources of a target in groups" OFF)
set(GALLEY_JSON_INCLUDE /usr/include CACHE PATH "The folder that has nlohmann/json.hpp")
set(GALLEY_GOOGLETEST /usr/src/googletest CACHE PATH "The sources of GoogleTest")
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_package(Threads REQUIRED)
enable_testing()
include(${GALLEY_ROOT}/cmake/GalleyTargets.cmake)

add_library(galley_compile_options INTERFACE)
target_compile_options(galley_compile_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-missing-field-initializers -Wno-maybe-uninitialized -ffile-prefix-map=${GALLEY_ROOT}=.)
if(GALLEY_TESTS)
  target_compile_options(galley_compile_options INTERFACE -Werror)
endif()
target_include_directories(galley_compile_options INTERFACE ${GALLEY_ROOT})
target_link_libraries(galley_compile_options INTERFACE Threads::Threads)

# By a folder that has nothing else: what lies beside it may be of another system.
if(NOT EXISTS ${GALLEY_JSON_INCLUDE}/nlohmann/json.hpp)
  message(FATAL_ERROR "${GALLEY_JSON_INCLUDE} has no nlohmann/json.hpp: install nlohmann-json3-dev, or set GALLEY_JSON_INCLUDE")
endif()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/json)
file(CREATE_LINK ${GALLEY_JSON_INCLUDE}/nlohmann ${CMAKE_BINARY_DIR}/json/nlohmann SYMBOLIC)
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
target_include_directories(nlohmann_json::nlohmann_json INTERFACE ${CMAKE_BINARY_DIR}/json)

if(GALLEY_TESTS)
  if(NOT EXISTS ${GALLEY_GOOGLETEST}/CMakeLists.txt)
    message(FATAL_ERROR "${GALLEY_GOOGLETEST} has no sources of GoogleTest: install googletest, or set GALLEY_GOOGLETEST")
  endif()
  add_subdirectory(${GALLEY_GOOGLETEST} googletest EXCLUDE_FROM_ALL)
endif()

# Headers are not compiled beforehand here.
function(galley_use_prefix)
endfunction()
