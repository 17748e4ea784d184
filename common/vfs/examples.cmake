# The programs of C in docs/examples.
cmake_path(SET examples NORMALIZE ${CMAKE_CURRENT_SOURCE_DIR}/../../docs/examples)
if(NOT GALLEY_TESTS)
  return()
endif()

function(galley_vfs_example NAME)
  add_executable(${NAME} ${examples}/${NAME}.c)
  target_link_libraries(${NAME} PRIVATE galley_vfs ${ARGN})
  set_target_properties(${NAME} PROPERTIES LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
endfunction()

galley_vfs_example(read_file)
