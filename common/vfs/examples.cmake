# The programs of C in docs/examples, and the tests of what games copy from there.
cmake_path(SET examples NORMALIZE ${CMAKE_CURRENT_SOURCE_DIR}/../../docs/examples)
_galley_note_sources(adapters_test.cc)
if(NOT GALLEY_TESTS)
  return()
endif()

function(galley_vfs_example NAME)
  add_executable(${NAME} ${examples}/${NAME}.c)
  target_link_libraries(${NAME} PRIVATE galley_vfs ${ARGN})
  set_target_properties(${NAME} PROPERTIES LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()

galley_vfs_example(read_file)

# What pkg-config finds is of this machine.
if(NOT CMAKE_CROSSCOMPILING)
  find_package(PkgConfig)
endif()
if(PkgConfig_FOUND)
  pkg_check_modules(PHYSFS IMPORTED_TARGET physfs)
  pkg_check_modules(SDL2 IMPORTED_TARGET sdl2)
endif()
if(NOT TARGET PkgConfig::PHYSFS OR NOT TARGET PkgConfig::SDL2)
  message(STATUS "no PhysicsFS or no SDL (scripts/install-packages libphysfs-dev libsdl2-dev): the library for games is not tested with them")
  return()
endif()
add_library(galley_vfs_adapters STATIC ${examples}/physfs_galley.c ${examples}/sdl_galley.c)
target_compile_options(galley_vfs_adapters PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
target_link_libraries(galley_vfs_adapters PUBLIC galley_vfs PkgConfig::PHYSFS PkgConfig::SDL2)
galley_vfs_example(load_sample galley_vfs_adapters)
cook_test(NAME vfs_adapters_test
  SRCS adapters_test.cc
  DEPS galley_vfs_adapters)
